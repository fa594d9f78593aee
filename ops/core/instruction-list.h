/* SPDX-License-Identifier: MIT
 *
 * Every instruction of a program: X (NAME, member, word, meaning). `member` is its function in a
 * visitor, `word` its name in a dump. The meaning says what `index` and `stream` of SsInstruction
 * are; what an event is: the work that a stream had been given when the event was recorded.
 */
#pragma once

#define SS_INSTRUCTION_LIST(X)                                                                     \
  X (ALLOCATE, allocate, "alloc", "request storage `index` in the pool of `stream`")               \
  X (RUN, run, "run", "give op `index` to `stream`, behind all that was given to it before")       \
  X (RELEASE, release, "free", "give storage `index` back to the pool of `stream`, its own")       \
  X (MARK, mark, "mark", "the host passes mark `index`")                                           \
  X (RECORD_EVENT, record_event, "record", "event `index` is the work that `stream` has by now")   \
  X (WAIT_EVENT, wait_event, "wait", "`stream` goes on when event `index` has happened")           \
  X (HOST_WAIT, host_wait, "host-wait", "the host goes on when event `index`, of `stream`, has")   \
  X (USE_ON_STREAM, use_on_stream, "use", "storage `index`, once released, waits for what " \
                                          "`stream` has by then")
