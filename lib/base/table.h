/* table.h - text tables for people
 *
 * Purpose: columns aligned by their widest cell (counted in UTF-8 characters), two blanks between them,
 * no trailing blanks. A cell is never cut.
 */
#ifndef HRUN_BASE_TABLE_H
#define HRUN_BASE_TABLE_H

#include "base/buf.h"

struct hrun_table;

/* spec: one character per column, 'l' left or 'r' right. NULL when memory ran out. */
struct hrun_table *hrun_table_create(const char *spec);
void hrun_table_destroy(struct hrun_table *t);
/* One row: ncol strings (const char *), NULL meaning "". Failures surface in hrun_table_render. */
void hrun_table_row(struct hrun_table *t, ...);
/* One cell, printf style; cells fill rows from left to right. */
void hrun_table_cell(struct hrun_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Append the table, each line indented by `indent` blanks. 0, or -1 when memory ran out. */
int hrun_table_render(const struct hrun_table *t, int indent, struct hrun_buf *out);

/* The columns that s[len] takes: its UTF-8 characters. */
size_t hrun_text_width(const char *s, size_t len);

#endif
