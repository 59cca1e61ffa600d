/* fuzz_frames.c - anything that a host's proxy, or hrun, may send as frames, in pieces: the first byte of a piece tells
 * how long it is, and whether a head with the next two bytes as kind and length stands before it. Each frame lies
 * inside what has come, and none is made of what is broken. */
#include "fuzz.h"

#include "launch/frames.h"

#include <string.h>

const char *const fuzz_seeds[] = { "\x83\x05\x03" "abc\x82\x08\x04" "ab\x02" "cd", "\x8f\x09\x01" "a", "\x10", NULL };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hrun_buf in = HRUN_BUF_INIT, again = HRUN_BUF_INIT;
    struct hrun_frame f;
    size_t at = 0;
    int got = 0;

    while (size > 1 && got >= 0) {
        size_t n = data[0] & 0x7f;

        if (data[0] & 0x80 && size > 3) {
            const unsigned char head[12] = { [3] = data[1], [7] = data[2], [11] = data[2] };

            hrun_buf_add(&in, head, sizeof head);
            data += 2;
            size -= 2;
        }
        data++;
        size--;
        n = n > size ? size : n;
        hrun_buf_add(&in, data, n);
        while ((got = hrun_frame_next(&in, &at, &f)) > 0) {
            FUZZ_CHECK(at <= in.len && f.data >= in.data && f.data + f.len == in.data + at);
            FUZZ_CHECK(f.kind >= 1 && f.kind < HRUN_FRAME_KINDS && f.number >= 0);
            hrun_buf_reset(&again);
            hrun_frame_add(&again, f.kind, f.number, f.data, f.len);
            FUZZ_CHECK(again.len == f.len + 12 && !memcmp(again.data, in.data + at - again.len, again.len));
        }
        hrun_frames_drop(&in, &at);
        FUZZ_CHECK(at == 0 && in.len < 12u + HRUN_FRAME_MAX + 256);
        data += n;
        size -= n;
    }
    hrun_buf_release(&in);
    hrun_buf_release(&again);
    return 0;
}
