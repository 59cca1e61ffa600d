/* notes.c - writing and parsing the agents' notes; see notes.h for the contracts */
#include "launch/notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kinds[HRUN_NOTE_KINDS] = {
    [HRUN_NOTE_BEGUN] = "begun", [HRUN_NOTE_UP] = "up", [HRUN_NOTE_CHANGED] = "changed",
    [HRUN_NOTE_REFUSED] = "refused", [HRUN_NOTE_RANK_BEGUN] = "rank-begun", [HRUN_NOTE_RANK_ENDED] = "rank-ended",
    [HRUN_NOTE_LATE] = "late", [HRUN_NOTE_FAILED] = "failed",
    [HRUN_NOTE_LOST] = "lost", [HRUN_NOTE_CRASHED] = "crashed", [HRUN_NOTE_ENDED] = "ended",
};

void hrun_note_write(int fd, enum hrun_note kind, const char *host, int number, const char *text)
{
    char line[HRUN_NOTE_TEXT + HRUN_NOTE_HOST + 64];
    int n = snprintf(line, sizeof line, "%s\t%.*s\t%d\t%.*s", kinds[kind], HRUN_NOTE_HOST - 1, host, number,
                     HRUN_NOTE_TEXT - 1, text);
    int tabs = 0;

    for (int i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ' && !(line[i] == '\t' && tabs++ < 3))
            line[i] = ' ';
    line[n] = '\n';
    if (write(fd, line, (size_t)n + 1) < 0)
        return;     /* hrun has gone */
}

int hrun_note_parse(const char *line, struct hrun_note_read *out)
{
    size_t len = strcspn(line, "\t"), host_len;
    const char *host = line + len + 1, *number;
    int kind = 0;

    while (kind < HRUN_NOTE_KINDS && (strlen(kinds[kind]) != len || strncmp(kinds[kind], line, len)))
        kind++;
    if (kind == HRUN_NOTE_KINDS || !line[len])
        return -1;
    host_len = strcspn(host, "\t");
    if (!host[host_len] || host_len >= sizeof out->host)
        return -1;
    number = host + host_len + 1;
    if (!strchr(number, '\t'))
        return -1;
    out->kind = (enum hrun_note)kind;
    out->number = (int)strtol(number, NULL, 10);
    snprintf(out->host, sizeof out->host, "%.*s", (int)host_len, host);
    snprintf(out->text, sizeof out->text, "%s", strchr(number, '\t') + 1);
    return 0;
}
