#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of `stepsim animate` in a real browser: controls, keys, pointer, widths, and no error.

usage: check-page.py SOURCE_ROOT STEPSIM [FOLDER]

Speaks with chromium through the pipes of --remote-debugging-pipe; exit status 77 where there is no
chromium.  With FOLDER, screenshots of every scenario, width and colour scheme are left there.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

SCENARIOS = ('llama8b-h100.xml', 'llama8b-h100-checkpointed.xml', 'teaching-4layer.xml')
HOSTILE = '</script><script>document.title="HIT"</script><img src=x onerror=alert(1)>"\'&amp;`$(x)`'
WIDTHS = ((390, 844), (1280, 800), (1920, 1080))
LIMIT_BYTES = 400_000
PATIENCE_S = 60


class Browser:
    """One page of a headless chromium."""

    def __init__(self, program, folder):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # the browser wants these as descriptors 3 and 4
        shell = 'exec "$@" 3<&%d 4>&%d' % (theirs_in, theirs_out)
        self.process = subprocess.Popen(
            ['/bin/bash', '-c', shell, 'sh', program, '--headless', '--no-sandbox', '--disable-gpu',
             '--no-first-run', '--disable-dev-shm-usage', '--hide-scrollbars',
             '--user-data-dir=' + folder, '--remote-debugging-pipe', 'about:blank'],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.source, self.sink = ours_in, ours_out
        self.buffer, self.events, self.number, self.session = b'', [], 0, None
        target = next(t for t in self.call('Target.getTargets')['targetInfos']
                      if t['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=target['targetId'],
                                 flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')

    def receive(self):
        end = time.monotonic() + PATIENCE_S
        while b'\0' not in self.buffer:
            ready, _, _ = select.select([self.source], [], [], max(end - time.monotonic(), 0))
            data = os.read(self.source, 1 << 20) if ready else b''
            if not data:
                raise RuntimeError('the browser does not answer')
            self.buffer += data
        message, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.sink, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.receive()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(method + ': ' + answer['error']['message'])
                return answer['result']
            self.events.append(answer)

    def run(self, expression):
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError(expression + ': ' + json.dumps(answer['exceptionDetails']))
        return answer['result'].get('value')

    def open(self, path, width, height, scheme='light', motion='no-preference'):
        self.events.clear()
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': scheme},
            {'name': 'prefers-reduced-motion', 'value': motion}])
        self.call('Page.navigate', url='file://' + path)
        end = time.monotonic() + PATIENCE_S
        while self.run('location.protocol + document.readyState') != 'file:complete':
            if time.monotonic() > end:
                raise RuntimeError('the page does not load')
            time.sleep(0.02)

    def key(self, key, code=None):
        text = {'text': ' '} if key == ' ' else {}
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=code or key,
                      windowsVirtualKeyCode={' ': 32, 'End': 35, 'Home': 36, 'ArrowLeft': 37,
                                             'ArrowRight': 39}[key],
                      **(text if kind == 'keyDown' else {}))

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def click(self, x, y):
        for kind in ('mousePressed', 'mouseReleased'):
            self.mouse(kind, x, y, button='left', clickCount=1)

    def screenshot(self, path):
        size = self.call('Page.getLayoutMetrics')['cssContentSize']
        data = self.call('Page.captureScreenshot', captureBeyondViewport=True,
                         clip={'x': 0, 'y': 0, 'width': size['width'], 'height': size['height'],
                               'scale': 1})['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(data))

    def complaints(self):
        """Console messages, exceptions, and everything fetched but the page itself."""
        self.run('0')
        for event in self.events:
            method, parameters = event.get('method'), event.get('params', {})
            if method in ('Runtime.consoleAPICalled', 'Runtime.exceptionThrown', 'Log.entryAdded',
                          'Page.javascriptDialogOpening'):
                yield 'the browser complains: ' + json.dumps(parameters)[:400]
            elif method == 'Network.requestWillBeSent':
                url = parameters['request']['url']
                if not url.startswith(('file://', 'data:')):
                    yield 'the page fetches ' + url

    def close(self):
        os.close(self.sink)
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.source)


NOW = 'Number(document.getElementById("scrub").value)'
LAST = 'Number(document.getElementById("scrub").max)'
BOX = ('(() => { const b = document.getElementById("%s").getBoundingClientRect();'
       ' return [b.left, b.top, b.width, b.height]; })()')
# pairs of texts that stand on one another, among the tank's labels, ticks and names
OVERLAPS = '''(() => {
  const boxes = [...document.querySelectorAll('.label, .tick, .name, .times span, .limit span')]
    .filter((n) => n.offsetParent !== null && n.textContent)
    .map((n) => [n.textContent, n.getBoundingClientRect()]);
  const hits = [];
  boxes.forEach(([a, p], i) => boxes.slice(0, i).forEach(([b, q]) => {
    if (p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 2
        && q.top < p.bottom - 2) hits.push(a + ' / ' + b);
  }));
  return hits;
})()'''


def expect(browser, expression, wanted, what):
    value = browser.run(expression)
    if value != wanted:
        yield f'{what}: {value!r}, not {wanted!r}'


def check_keys(browser):
    last = browser.run(LAST)
    yield from expect(browser, NOW, 0, 'the first moment')
    for key, wanted in (('ArrowRight', 1), ('ArrowRight', 2), ('ArrowLeft', 1), ('End', last),
                        ('ArrowRight', last), ('Home', 0), ('ArrowLeft', 0)):
        browser.key(key)
        yield from expect(browser, NOW, wanted, 'after ' + key)
    browser.run('document.getElementById("scrub").focus()')
    browser.key('ArrowRight')
    yield from expect(browser, NOW, 1, 'an arrow on the scrubber')
    browser.run('document.activeElement.blur()')


def check_play(browser):
    browser.key('Home')
    browser.key(' ')
    yield from expect(browser, 'document.getElementById("play").textContent', 'Pause', 'space')
    end = time.monotonic() + PATIENCE_S
    while browser.run(NOW) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    browser.key(' ')
    stopped = browser.run(NOW)
    if stopped < 2:
        yield 'playing does not move on'
    yield from expect(browser, 'document.getElementById("play").textContent', 'Play', 'again')
    time.sleep(0.8)
    yield from expect(browser, NOW, stopped, 'paused')
    browser.run('document.getElementById("play").focus()')
    browser.key(' ', 'Space')
    yield from expect(browser, 'document.getElementById("play").textContent', 'Pause',
                      'space on the button')
    browser.run('document.getElementById("play").click(); document.activeElement.blur()')


def check_pointer(browser):
    for name, wanted in (('last', browser.run(LAST)), ('first', 0), ('next', 1), ('back', 0)):
        left, top, width, height = browser.run(BOX % name)
        browser.click(left + width / 2, top + height / 2)
        yield from expect(browser, NOW, wanted, 'a click on ' + name)
    browser.run('document.getElementById("plot").scrollIntoView({block: "center"})')
    left, top, width, height = browser.run(BOX % 'plot')
    browser.mouse('mouseMoved', left + width / 2, top + height / 2)
    words = browser.run('document.getElementById("tip").innerText')
    if ' B' not in words or 'parameters' not in words or 'step 1' not in words:
        yield f'the pointer on the curve tells {words!r}'
    browser.click(left + width / 2, top + height / 2)
    at = browser.run('parseFloat(document.getElementById("stage").style.getPropertyValue("--at"))')
    if not 40 < at < 60:
        yield f'a click in the middle of the curve leads to {at} %'
    browser.mouse('mouseMoved', 1, 1)
    yield from expect(browser, 'document.getElementById("tip").hidden', True, 'the pointer away')


def check_names(browser):
    """What a screen reader is told."""
    nodes = browser.call('Accessibility.getFullAXTree')['nodes']
    for node in nodes:
        role = node.get('role', {}).get('value')
        if role in ('button', 'slider', 'combobox', 'image', 'figure') and not node.get('ignored') \
                and not node.get('name', {}).get('value'):
            yield f'a {role} has no name'
    browser.key('Home')
    browser.key('ArrowRight')
    text = browser.run('document.getElementById("scrub").getAttribute("aria-valuetext")')
    if not text.startswith('step 1, ') or 'forward' not in text:
        yield f'the scrubber says {text!r}'
    browser.key('Home')


def check_widths(browser, path, folder):
    name = os.path.basename(path)[:-5]
    for width, height in WIDTHS:
        for scheme in ('light', 'dark'):
            browser.open(path, width, height, scheme)
            where = f'{name} at {width}, {scheme}: '
            wide = browser.run('document.documentElement.scrollWidth')
            if wide > width:
                yield where + f'{wide} pixels wide'
            last = browser.run(LAST)
            for at in (0, last // 3, 2 * last // 3, last):
                browser.run(f'(() => {{ const s = document.getElementById("scrub"); s.value = {at};'
                            ' s.dispatchEvent(new Event("input")); })()')
                for pair in browser.run(OVERLAPS):
                    yield where + f'moment {at}: {pair} overlap'
                if folder:
                    time.sleep(0.2)
                    browser.screenshot(os.path.join(folder, f'{name}-{width}-{scheme}-{at:03}.png'))
            for complaint in browser.complaints():
                yield where + complaint


def check_motion(browser, path):
    duration = 'getComputedStyle(document.querySelector(".part")).transitionDuration'
    browser.open(path, 1280, 800)
    if browser.run(duration) in ('', '0s'):
        yield 'nothing moves'
    browser.open(path, 1280, 800, motion='reduce')
    if set(browser.run(duration).split(', ')) != {'0s'}:
        yield 'motion is not reduced'
    yield from expect(browser, NOW, 0, 'nothing plays by itself')


def check_hostile(browser, path):
    browser.open(path, 1280, 800)
    title = browser.run('document.title')
    if title != HOSTILE:
        yield f'the title is {title!r}'
    yield from expect(browser, 'document.querySelectorAll("img").length', 0, 'no picture')
    yield from expect(browser, 'document.querySelectorAll("script").length', 2, 'our two scripts')
    yield from browser.complaints()


def draw(stepsim, scenario, path, *options):
    subprocess.run([stepsim, 'animate', scenario, '-q', '-f', '-o', path, *options], check=False)
    if os.path.getsize(path) > LIMIT_BYTES:
        yield f'{path}: {os.path.getsize(path)} bytes'


def hostile_scenario(root, place):
    with open(os.path.join(root, 'scenarios', 'teaching-4layer.xml'), encoding='utf-8') as file:
        text = file.read()
    name = HOSTILE.replace('&', '&amp;').replace('<', '&lt;').replace('"', '&quot;')
    text = text.replace('"Four equal layers, two steps"', '"' + name + '"')
    path = os.path.join(root, 'scenarios', 'models')
    text = text.replace('href="models', 'href="' + path)
    scenario = os.path.join(place, 'hostile.xml')
    with open(scenario, 'w', encoding='utf-8') as file:
        file.write(text)
    return scenario


def check(browser, root, stepsim, place, folder, scenarios):
    pages = []
    for scenario in scenarios:
        path = os.path.join(place, scenario[:-4] + '.html')
        yield from draw(stepsim, os.path.join(root, 'scenarios', scenario), path)
        pages.append(path)
    browser.open(pages[0], 1280, 800)
    for part in (check_keys, check_play, check_pointer, check_names):
        yield from part(browser)
    yield from browser.complaints()
    yield from check_motion(browser, pages[0])
    for path in pages:
        yield from check_widths(browser, path, folder)
    hostile = os.path.join(place, 'hostile.html')
    yield from draw(stepsim, hostile_scenario(root, place), hostile)
    yield from check_hostile(browser, hostile)


def main():
    root, stepsim = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    folder = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
    program = shutil.which('chromium') or shutil.which('chromium-browser')
    if program is None:
        print('no chromium')
        return 77
    scenarios = SCENARIOS if folder is None else sorted(
        name for name in os.listdir(os.path.join(root, 'scenarios')) if name.endswith('.xml'))
    with tempfile.TemporaryDirectory() as place:
        browser = Browser(program, os.path.join(place, 'profile'))
        try:
            problems = list(check(browser, root, stepsim, place, folder, scenarios))
        finally:
            browser.close()
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
