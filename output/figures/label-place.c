/* SPDX-License-Identifier: MIT */
#include "output/figures/label-place.h"

#include <math.h>

#define SEARCH_STEP_PX 6

SsObstacles *
ss_obstacles_new (void)
{
  SsObstacles *self = g_new0 (SsObstacles, 1);

  self->rects = g_array_new (FALSE, FALSE, sizeof (SsRect));
  self->lines = g_array_new (FALSE, FALSE, sizeof (SsPoint));
  return self;
}

void
ss_obstacles_free (SsObstacles *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->rects);
  g_array_unref (self->lines);
  g_free (self);
}

void
ss_obstacles_add_rect (SsObstacles *self, const SsRect *rect)
{
  g_array_append_val (self->rects, *rect);
}

void
ss_obstacles_add_line (SsObstacles *self, SsPoint from, SsPoint to)
{
  g_array_append_val (self->lines, from);
  g_array_append_val (self->lines, to);
}

/* ---- what touches what ---- */

static gboolean
rects_touch (const SsRect *a, const SsRect *b)
{
  return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* Twice the area of the triangle: its sign says on which side of a-b the point c lies. */
static double
side_of (SsPoint a, SsPoint b, SsPoint c)
{
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static gboolean
lines_cross (SsPoint a, SsPoint b, SsPoint c, SsPoint d)
{
  return side_of (a, b, c) * side_of (a, b, d) < 0 && side_of (c, d, a) * side_of (c, d, b) < 0;
}

static gboolean
is_within (const SsRect *rect, SsPoint point)
{
  return point.x > rect->left && point.x < rect->right && point.y > rect->top
         && point.y < rect->bottom;
}

static gboolean
line_touches_rect (SsPoint a, SsPoint b, const SsRect *rect)
{
  SsPoint corners[4] = { { rect->left, rect->top }, { rect->right, rect->top },
                         { rect->right, rect->bottom }, { rect->left, rect->bottom } };

  if (is_within (rect, a) || is_within (rect, b))
    return TRUE;
  for (guint i = 0; i < 2; i++)
    if (lines_cross (a, b, corners[i], corners[i + 2]))
      return TRUE;
  return FALSE;
}

gboolean
ss_obstacles_touch_rect (const SsObstacles *self, const SsRect *rect)
{
  for (guint i = 0; i < self->rects->len; i++)
    if (rects_touch (rect, &g_array_index (self->rects, SsRect, i)))
      return TRUE;
  for (guint i = 0; i + 1 < self->lines->len; i += 2)
    if (line_touches_rect (g_array_index (self->lines, SsPoint, i),
                           g_array_index (self->lines, SsPoint, i + 1), rect))
      return TRUE;
  return FALSE;
}

gboolean
ss_obstacles_touch_line (const SsObstacles *self, SsPoint from, SsPoint to)
{
  for (guint i = 0; i < self->rects->len; i++)
    if (line_touches_rect (from, to, &g_array_index (self->rects, SsRect, i)))
      return TRUE;
  for (guint i = 0; i + 1 < self->lines->len; i += 2)
    if (lines_cross (from, to, g_array_index (self->lines, SsPoint, i),
                     g_array_index (self->lines, SsPoint, i + 1)))
      return TRUE;
  return FALSE;
}

/* ---- inside an area ---- */

/* Where a text centred on the middle of columns first..first + n would stand; FALSE: it does not
 * fit there. */
static gboolean
fits_at (const SsOutline *area, guint first, guint n, double width, double height,
         const SsObstacles *obstacles, SsRect *place)
{
  double top = -HUGE_VAL, bottom = HUGE_VAL, middle_x = area->left + first + n / 2.0, middle_y;

  for (guint i = first; i < first + n; i++)
    {
      top = MAX (top, area->upper[i]);
      bottom = MIN (bottom, area->lower[i]);
    }
  if (bottom - top < SS_LABEL_ROOM * height)
    return FALSE;
  middle_y = (top + bottom) / 2;
  *place = (SsRect){ middle_x - width / 2, middle_y - height / 2, middle_x + width / 2,
                     middle_y + height / 2 };
  return !ss_obstacles_touch_rect (obstacles, place);
}

gboolean
ss_label_place_inside (const SsOutline *area, double width, double height,
                       const SsObstacles *obstacles, SsRect *place)
{
  guint n = (guint) ceil (width), run = 0, best_run = 0, best_first = 0;
  SsRect ignored;

  for (guint first = 0; n > 0 && first + n <= area->n_columns; first++)
    {
      run = fits_at (area, first, n, width, height, obstacles, &ignored) ? run + 1 : 0;
      if (run <= best_run)
        continue;
      best_run = run;
      best_first = first;
    }
  /* every place of the run fits, so its middle does */
  return best_run > 0
         && fits_at (area, best_first - (best_run - 1) / 2, n, width, height, obstacles, place);
}

/* ---- near a point ---- */

static double
distance_to (const SsRect *place, SsPoint target)
{
  SsPoint start = ss_label_pointer_start (place, target);

  return hypot (start.x - target.x, start.y - target.y);
}

SsPoint
ss_label_pointer_start (const SsRect *place, SsPoint target)
{
  return (SsPoint){ CLAMP (target.x, place->left, place->right),
                    CLAMP (target.y, place->top, place->bottom) };
}

/* The free stretch between the edges over the columns that the text would take. */
static void
free_between (const SsOutline *space, double left, double width, double *top, double *bottom)
{
  guint first = (guint) MAX (floor (left - space->left), 0);
  guint last = MIN ((guint) ceil (left + width - space->left), space->n_columns);

  *top = -HUGE_VAL;
  *bottom = HUGE_VAL;
  for (guint i = first; i < last; i++)
    {
      *top = MAX (*top, space->upper[i]);
      *bottom = MIN (*bottom, space->lower[i]);
    }
}

/* Looks at the pointer pixel by pixel until only `dive` of it is left. */
static gboolean
stays_free (const SsOutline *space, SsPoint from, SsPoint target, double dive)
{
  double length = hypot (target.x - from.x, target.y - from.y);

  for (double d = 1; d < length - dive; d += 1)
    {
      double x = from.x + (target.x - from.x) * d / length,
             y = from.y + (target.y - from.y) * d / length;
      guint column = (guint) CLAMP (x - space->left, 0, space->n_columns - 1.0);

      if (y > space->lower[column] || y < space->upper[column])
        return FALSE;
    }
  return TRUE;
}

static gboolean
pointer_is_clear (const SsOutline *space, const SsRect *place, SsPoint target, double dive,
                  const SsObstacles *obstacles)
{
  SsPoint start = ss_label_pointer_start (place, target);

  return !ss_obstacles_touch_line (obstacles, start, target)
         && stays_free (space, start, target, dive);
}

gboolean
ss_label_place_near (const SsOutline *space, SsPoint target, double width, double height,
                     double reach, double dive, const SsObstacles *obstacles, SsRect *place)
{
  double right_most = space->left + space->n_columns - width, best = HUGE_VAL;

  for (double left = space->left; left <= right_most; left += SEARCH_STEP_PX)
    {
      double top, bottom;

      free_between (space, left, width, &top, &bottom);
      for (double y = bottom - height; y >= top; y -= SEARCH_STEP_PX)
        {
          SsRect candidate = { left, y, left + width, y + height };
          /* of places equally near, the one that is centred over the target */
          double cost
              = distance_to (&candidate, target) + 0.05 * fabs (left + width / 2 - target.x);

          if (cost >= best || cost > reach || ss_obstacles_touch_rect (obstacles, &candidate)
              || !pointer_is_clear (space, &candidate, target, dive, obstacles))
            continue;
          best = cost;
          *place = candidate;
        }
    }
  return best < HUGE_VAL;
}

/* ---- in a margin ---- */

static gint
by_wanted_y (gconstpointer a, gconstpointer b)
{
  const SsMarginLabel *const *x = a, *const *y = b;

  if ((*x)->wanted_y < (*y)->wanted_y)
    return -1;
  if ((*x)->wanted_y > (*y)->wanted_y)
    return 1;
  return *x < *y ? -1 : *x > *y;
}

/* Labels that would touch form a block, which stands where its members on average want to be;
 * blocks that would touch merge (pool adjacent violators, the least-squares solution). */
typedef struct
{
  guint first, n;
  double height;
  double
      wanted_top_sum; /* of each member: its wanted top less the heights of the members above it */
} Block;

static double
block_top (const Block *block, double top, double bottom)
{
  return CLAMP (block->wanted_top_sum / block->n, top, bottom - block->height);
}

static Block
merged (const Block *above, const Block *below)
{
  return (Block) {
    .first = above->first, .n = above->n + below->n, .height = above->height + below->height,
    .wanted_top_sum = above->wanted_top_sum + below->wanted_top_sum - below->n * above->height,
  };
}

gboolean
ss_label_place_margin (SsMarginLabel *labels, guint n_labels, double top, double bottom)
{
  g_autofree SsMarginLabel **order = g_new (SsMarginLabel *, n_labels + 1);
  g_autofree Block *blocks = g_new (Block, n_labels + 1);
  guint n_blocks = 0;
  double sum = 0;

  for (guint i = 0; i < n_labels; i++)
    {
      order[i] = &labels[i];
      sum += labels[i].height;
    }
  if (sum > bottom - top)
    return FALSE;
  qsort (order, n_labels, sizeof *order, by_wanted_y);
  for (guint i = 0; i < n_labels; i++)
    {
      blocks[n_blocks++]
          = (Block){ i, 1, order[i]->height, order[i]->wanted_y - order[i]->height / 2 };
      while (n_blocks > 1
             && block_top (&blocks[n_blocks - 2], top, bottom) + blocks[n_blocks - 2].height
                  > block_top (&blocks[n_blocks - 1], top, bottom))
        {
          blocks[n_blocks - 2] = merged (&blocks[n_blocks - 2], &blocks[n_blocks - 1]);
          n_blocks--;
        }
    }
  for (guint b = 0; b < n_blocks; b++)
    {
      double y = block_top (&blocks[b], top, bottom);

      for (guint i = blocks[b].first; i < blocks[b].first + blocks[b].n; i++)
        {
          order[i]->y = y + order[i]->height / 2;
          y += order[i]->height;
        }
    }
  return TRUE;
}
