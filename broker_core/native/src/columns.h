/* What the files share that make columns of many records: scan.c, columns.c, properties.c, decoded.c. */
#ifndef GANTRY_COLUMNS_H
#define GANTRY_COLUMNS_H

#include "native.h"

/* columns.c: parts of many records as columns of Arrow. Spans are positions and lengths in `data`; a length of -1
 * stands for no value. Offsets of columns are int32, one more than rows. */
typedef struct {
    Py_buffer data, starts, lengths;
    Py_ssize_t rows;
    Py_ssize_t bytes; /* of all spans */
    const uint8_t *stop; /* where the data ends */
} Spans;

/* A column of texts that grows; `offsets` and `text` are bytes objects. */
typedef struct {
    PyObject *offsets, *text;
    int32_t count, size, room, text_room;
} Column;

int read_spans(PyObject *const *args, Spans *spans);
void drop_spans(Spans *spans);
int make_column(Column *column, Py_ssize_t rows, Py_ssize_t bytes);
int grow_column(Column *column, Py_ssize_t more);
int finish_column(Column *column);
void drop_column(Column *column);

static inline Span span_at(const Spans *spans, Py_ssize_t row)
{
    int64_t length = ((const int64_t *)spans->lengths.buf)[row];
    if (length <= 0)
        return (Span){NULL, 0};
    return (Span){(const uint8_t *)spans->data.buf + ((const int64_t *)spans->starts.buf)[row], (Py_ssize_t)length};
}

/* Copy what is usually a few bytes, without a call for that; the ends of two moves may overlap. */
static inline void copy_short(uint8_t *to, Span from)
{
    typedef struct {
        uint8_t bytes[16];
    } Sixteen;
    Py_ssize_t size = from.size;
    if (size > 32)
        memcpy(to, from.bytes, (size_t)size);
    else if (size >= 16) {
        Sixteen first, last;
        memcpy(&first, from.bytes, 16);
        memcpy(&last, from.bytes + size - 16, 16);
        memcpy(to, &first, 16);
        memcpy(to + size - 16, &last, 16);
    } else if (size >= 8) {
        uint64_t first, last;
        memcpy(&first, from.bytes, 8);
        memcpy(&last, from.bytes + size - 8, 8);
        memcpy(to, &first, 8);
        memcpy(to + size - 8, &last, 8);
    } else if (size >= 4) {
        uint32_t first, last;
        memcpy(&first, from.bytes, 4);
        memcpy(&last, from.bytes + size - 4, 4);
        memcpy(to, &first, 4);
        memcpy(to + size - 4, &last, 4);
    } else
        for (Py_ssize_t i = 0; i < size; i++)
            to[i] = from.bytes[i];
}

/* Add a text; return -1 with an exception set if there is no memory for it. */
static inline int add_to(Column *column, Span span)
{
    if ((column->count == column->room || span.size > column->text_room - column->size) &&
        grow_column(column, span.size) < 0)
        return -1;
    copy_short((uint8_t *)PyBytes_AS_STRING(column->text) + column->size, span);
    column->size += (int32_t)span.size;
    column->count++;
    memcpy(PyBytes_AS_STRING(column->offsets) + 4 * (Py_ssize_t)column->count, &column->size, 4);
    return 0;
}

/* properties.c: the separators among 64 bytes are found at once, as bits. */
#define WIDE 64
typedef struct {
    uint8_t bytes[WIDE];
} Wide;

#if defined(__SSE2__)
#include <emmintrin.h>

static inline uint64_t equal_to(const Wide *wide, uint8_t byte)
{
    uint64_t found = 0;
    for (int i = 0; i < 4; i++) {
        __m128i some = _mm_loadu_si128((const __m128i *)wide->bytes + i);
        some = _mm_cmpeq_epi8(some, _mm_set1_epi8((char)byte));
        found |= (uint64_t)(uint32_t)_mm_movemask_epi8(some) << 16 * i;
    }
    return found;
}
#else
static inline uint64_t equal_to(const Wide *wide, uint8_t byte)
{
    uint64_t found = 0;
    for (int i = 0; i < WIDE; i++)
        found |= (uint64_t)(wide->bytes[i] == byte) << i;
    return found;
}
#endif

/* Return the 64 bytes from `at` on: themselves, or `room` with those before `stop`, where the data ends, and zeros. */
static inline const Wide *load_wide(const uint8_t *at, const uint8_t *stop, Wide *room)
{
    if (stop - at >= WIDE)
        return (const Wide *)at;
    memset(room, 0, WIDE);
    memcpy(room, at, (size_t)(stop - at));
    return room;
}

/* The bits of the first `left` bytes. */
static inline uint64_t first_bits(Py_ssize_t left)
{
    return left >= WIDE ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
}

/* Say whether all bytes are ASCII. */
static inline int is_ascii(Span text)
{
    uint64_t high = 0, some[2];
    for (; text.size >= 16; text.bytes += 16, text.size -= 16) {
        memcpy(some, text.bytes, 16);
        high |= some[0] | some[1];
    }
    for (; text.size > 0; text.bytes++, text.size--)
        high |= *text.bytes;
    return (high & 0x8080808080808080u) == 0;
}

typedef void (*TakePair)(void *into, Span name, Span value);

static inline void take_sound_pair(TakePair take, void *into, const uint8_t *begin, const uint8_t *middle,
                                   const uint8_t *end)
{
    if (middle != NULL && middle > begin && middle + 1 < end)
        take(into, (Span){begin, middle - begin}, (Span){middle + 1, end - middle - 1});
}

/* Take each sound pair of a text, in order. */
static inline __attribute__((always_inline)) void each_pair(Span text, const uint8_t *stop, TakePair take, void *into)
{
    const uint8_t *begin = text.bytes, *middle = NULL, *end = text.bytes + text.size;
    Wide room;
    for (const uint8_t *at = begin; at < end; at += WIDE) {
        const Wide *bytes = load_wide(at, stop, &room);
        uint64_t mine = first_bits(end - at), ends = equal_to(bytes, PAIR_END) & mine;
        for (uint64_t marks = (equal_to(bytes, NAME_END) & mine) | ends; marks != 0; marks &= marks - 1) {
            int place = __builtin_ctzll(marks);
            if ((ends >> place & 1) == 0) {
                middle = middle == NULL ? at + place : middle;
                continue;
            }
            take_sound_pair(take, into, begin, middle, at + place);
            begin = at + place + 1;
            middle = NULL;
        }
    }
    take_sound_pair(take, into, begin, middle, end);
}

static inline int is_same(Span one, Span other)
{
    return one.size == other.size && *one.bytes == *other.bytes &&
           memcmp(one.bytes, other.bytes, (size_t)one.size) == 0;
}

/* The pairs of one row. */
#define MOST_PAIRS 64
typedef struct {
    Span name[MOST_PAIRS], value[MOST_PAIRS];
    int pairs, has_more;
} Pairs;

void take_pair(void *into, Span name, Span value);
int add_pairs(const Pairs *pairs, Column *names, Column *values);
int add_words(Span text, const uint8_t *stop, Column *words);

/* decoded.c: what a read wants of the records that are checked, beside their heads. */
enum { CHECK_BODIES = 1, BODY = 2, UNIQUE_ID = 4, TAG = 8, KEY = 16, KEY_WORDS = 32, PROPERTIES = 64 };

/* A column in which rows may be null. */
typedef struct {
    Column column;
    PyObject *valid; /* a bit for each row */
    int32_t nulls;
} Nullable;

typedef struct {
    int32_t wants;
    Nullable unique_id, tag, key;
    Column body, words, names, values;
    PyObject *first_word, *first_pair;
} Decoded;

int make_decoded(Decoded *decoded, int32_t wants, Py_ssize_t rows, Py_ssize_t bytes);
int decode_text(Decoded *decoded, Py_ssize_t row, Span text, const uint8_t *stop);
PyObject *take_decoded(Decoded *decoded);
void drop_decoded(Decoded *decoded);

#endif
