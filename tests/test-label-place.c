/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

#include "output/figures/label-place.h"
#include "output/figures/text-width.h"

#define N 100

static void
fill (double *y, guint first, guint end, double value)
{
  for (guint i = first; i < end; i++)
    y[i] = value;
}

/* An area 20 high from column 10 to 70 and 40 high from 80 to 100: a text 10 high needs 14, so both
 * hold it, and the first is the wider: its middle is 40. */
Test (label_place, the_widest_place_wins)
{
  double upper[N], lower[N];
  SsOutline area = { 0, N, upper, lower };
  g_autoptr (SsObstacles) none = ss_obstacles_new ();
  SsRect place;

  fill (upper, 0, N, 100);
  fill (lower, 0, N, 100);
  fill (upper, 10, 70, 80);
  fill (upper, 80, 100, 60);
  cr_assert (ss_label_place_inside (&area, 16, 10, none, &place));
  cr_expect (le (dbl, fabs ((place.left + place.right) / 2 - 40), 1));
  cr_expect (eq (dbl, (place.top + place.bottom) / 2, 90));
  cr_expect (eq (dbl, place.bottom - place.top, 10));
}

/* 14 is 1.4 times 10; 13.9 is too low. */
Test (label_place, an_area_must_be_high_enough)
{
  double upper[N], lower[N];
  SsOutline area = { 0, N, upper, lower };
  g_autoptr (SsObstacles) none = ss_obstacles_new ();
  SsRect place;

  fill (lower, 0, N, 100);
  fill (upper, 0, N, 100 - 13.9);
  cr_expect (not (ss_label_place_inside (&area, 16, 10, none, &place)));
  fill (upper, 0, N, 100 - 14);
  cr_expect (ss_label_place_inside (&area, 16, 10, none, &place));
  cr_expect (not (ss_label_place_inside (&area, N + 1, 10, none, &place)));
}

Test (label_place, obstacles_are_kept_clear)
{
  double upper[N], lower[N];
  SsOutline area = { 0, N, upper, lower };
  g_autoptr (SsObstacles) obstacles = ss_obstacles_new ();
  SsRect place;

  fill (upper, 0, N, 0);
  fill (lower, 0, N, 50);
  ss_obstacles_add_line (obstacles, (SsPoint) { 60, 0 }, (SsPoint) { 60, 50 });
  cr_assert (ss_label_place_inside (&area, 30, 10, obstacles, &place));
  cr_expect (le (dbl, place.right, 60));
  ss_obstacles_add_rect (obstacles, &(SsRect) { 20, 0, 40, 50 });
  cr_assert (ss_label_place_inside (&area, 30, 10, obstacles, &place));
  cr_expect (ge (dbl, place.left, 60));
  cr_expect (not (ss_label_place_inside (&area, 45, 10, obstacles, &place)));
}

/* A spike at column 50 that reaches up to 40; the space above the rest is free down to 80. */
Test (label_place, near_stands_beside_the_target_and_clear_of_the_curve)
{
  double upper[N], lower[N];
  SsOutline space = { 0, N, upper, lower };
  g_autoptr (SsObstacles) obstacles = ss_obstacles_new ();
  SsPoint target = { 50.5, 60 };
  SsRect place, second;

  fill (upper, 0, N, 0);
  fill (lower, 0, N, 80);
  lower[50] = 40;
  cr_assert (ss_label_place_near (&space, target, 20, 10, 100, HUGE_VAL, obstacles, &place));
  cr_expect (place.right <= 50 || place.left >= 51 || place.bottom <= 40);
  cr_expect (le (dbl, place.bottom, 80));
  cr_expect (le (dbl, fabs (ss_label_pointer_start (&place, target).x - target.x), 12));
  ss_obstacles_add_rect (obstacles, &place);
  cr_assert (ss_label_place_near (&space, target, 20, 10, 100, HUGE_VAL, obstacles, &second));
  cr_expect (not (ss_obstacles_touch_rect (obstacles, &second)));
  cr_expect (not(ss_label_place_near (&space, (SsPoint){ 50, 300 }, 20, 10, 100, HUGE_VAL,
                                      obstacles, &second)));
}

/* A wall from 20 to the bottom at column 60 between the target and all free places but those above
 * it: the pointer may not go through it, unless it may dive as deep. */
Test (label_place, pointers_keep_out_of_what_is_drawn)
{
  double upper[N], lower[N];
  SsOutline space = { 0, N, upper, lower };
  g_autoptr (SsObstacles) obstacles = ss_obstacles_new ();
  SsPoint target = { 40, 60 };
  SsRect place;

  fill (upper, 0, N, 0);
  fill (lower, 0, 60, 12);
  fill (lower, 60, N, 80);
  ss_obstacles_add_rect (obstacles, &(SsRect) { 0, 0, 60, 12 });
  cr_expect (not (ss_label_place_near (&space, target, 20, 10, 100, 10, obstacles, &place)));
  cr_assert (ss_label_place_near (&space, target, 20, 10, 100, 25, obstacles, &place));
  cr_expect (ge (dbl, place.left, 60));
}

/* Three labels of height 10 want 50, 52 and 90: the first two form a block around 51, the third is
 * free. */
Test (label_place, margin_labels_part_by_as_little_as_can_be)
{
  SsMarginLabel labels[] = { { 52, 10, 0 }, { 90, 10, 0 }, { 50, 10, 0 } };

  cr_assert (ss_label_place_margin (labels, 3, 0, 100));
  cr_expect (eq (dbl, labels[2].y, 46));
  cr_expect (eq (dbl, labels[0].y, 56));
  cr_expect (eq (dbl, labels[1].y, 90));
}

Test (label_place, margin_labels_stay_between_top_and_bottom)
{
  SsMarginLabel labels[] = { { -40, 10, 0 }, { 0, 20, 0 }, { 200, 10, 0 }, { 99, 10, 0 } };

  cr_assert (ss_label_place_margin (labels, 4, 0, 100));
  cr_expect (eq (dbl, labels[0].y, 5));
  cr_expect (eq (dbl, labels[1].y, 20));
  cr_expect (eq (dbl, labels[3].y, 85));
  cr_expect (eq (dbl, labels[2].y, 95));
}

Test (label_place, too_many_margin_labels_are_refused)
{
  SsMarginLabel labels[] = { { 0, 10, -1 }, { 0, 10, -1 }, { 0, 10, -1 } };

  cr_expect (not (ss_label_place_margin (labels, 3, 0, 29)));
  cr_expect (eq (dbl, labels[0].y, -1));
  cr_expect (ss_label_place_margin (labels, 3, 0, 30));
  cr_expect (ss_label_place_margin (labels, 0, 0, 30));
}

/* DejaVu Sans: 'i' has 569 units of 2048, '0' 1303, both times 1.08. */
Test (text_width, is_the_sum_of_the_advances)
{
  cr_expect (le (dbl, fabs (ss_text_width ("i0", 2048, FALSE) - (569 + 1303) * 1.08), 1e-6));
  cr_expect (eq (dbl, ss_text_width ("", 17, TRUE), 0));
  cr_expect (gt (dbl, ss_text_width ("step", 17, TRUE), ss_text_width ("step", 17, FALSE)));
}

Test (text_width, a_long_text_is_cut_with_an_ellipsis)
{
  g_autofree char *fit = ss_text_fit ("a few words", 10, FALSE, 1000);
  g_autofree char *cut
      = ss_text_fit ("a few \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 words", 10, FALSE, 60);
  g_autofree char *none = ss_text_fit ("word", 10, FALSE, 1);

  cr_expect (eq (str, fit, "a few words"));
  cr_expect (g_str_has_suffix (cut, "\xe2\x80\xa6"));
  cr_expect (g_utf8_validate (cut, -1, NULL));
  cr_expect (le (dbl, ss_text_width (cut, 10, FALSE), 60));
  cr_expect (eq (str, none, ""));
}
