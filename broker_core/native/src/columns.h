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

/* Add a text; return -1 with an exception set if there is no memory for it. */
static inline int add_to(Column *column, Span span)
{
    if ((column->count == column->room || span.size > column->text_room - column->size) &&
        grow_column(column, span.size) < 0)
        return -1;
    if (span.size > 0)
        memcpy(PyBytes_AS_STRING(column->text) + column->size, span.bytes, (size_t)span.size);
    column->size += (int32_t)span.size;
    column->count++;
    memcpy(PyBytes_AS_STRING(column->offsets) + 4 * (Py_ssize_t)column->count, &column->size, 4);
    return 0;
}

/* properties.c: the separators of sixteen bytes are found at once. */
#define WIDE 16
#if defined(__SSE2__)
#include <emmintrin.h>
typedef __m128i Wide;

static inline uint32_t equal_to(Wide bytes, uint8_t byte)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)byte)));
}

static inline uint32_t beyond_ascii(Wide bytes)
{
    return (uint32_t)_mm_movemask_epi8(bytes);
}
#else
typedef struct {
    uint8_t bytes[WIDE];
} Wide;

static inline uint32_t equal_to(Wide wide, uint8_t byte)
{
    uint32_t found = 0;
    for (int i = 0; i < WIDE; i++)
        found |= (uint32_t)(wide.bytes[i] == byte) << i;
    return found;
}

static inline uint32_t beyond_ascii(Wide wide)
{
    uint32_t found = 0;
    for (int i = 0; i < WIDE; i++)
        found |= (uint32_t)(wide.bytes[i] >> 7) << i;
    return found;
}
#endif

/* Return up to sixteen bytes from `at` on, with zeros behind those that there are; `stop` is where the data ends. */
static inline Wide load_wide(const uint8_t *at, Py_ssize_t left, const uint8_t *stop)
{
    Wide wide;
    if (stop - at >= WIDE) {
        memcpy(&wide, at, WIDE);
        return wide;
    }
    uint8_t some[WIDE] = {0};
    memcpy(some, at, (size_t)(left < WIDE ? left : WIDE));
    memcpy(&wide, some, WIDE);
    return wide;
}

/* The bits of the first `left` bytes. */
static inline uint32_t first_bits(Py_ssize_t left)
{
    return left >= WIDE ? 0xFFFF : (1u << left) - 1;
}

typedef void (*TakePair)(void *into, Span name, Span value);

static inline void take_sound_pair(TakePair take, void *into, const uint8_t *begin, const uint8_t *middle,
                                   const uint8_t *end)
{
    if (middle != NULL && middle > begin && middle + 1 < end)
        take(into, (Span){begin, middle - begin}, (Span){middle + 1, end - middle - 1});
}

/* Take each sound pair of a text, in order; return whether all of it is ASCII. */
static inline __attribute__((always_inline)) int each_pair(Span text, const uint8_t *stop, TakePair take, void *into)
{
    const uint8_t *begin = text.bytes, *middle = NULL, *end = text.bytes + text.size;
    uint32_t odd = 0;
    for (const uint8_t *at = begin; at < end; at += WIDE) {
        Wide bytes = load_wide(at, end - at, stop);
        uint32_t mine = first_bits(end - at), ends = equal_to(bytes, PAIR_END) & mine;
        odd |= beyond_ascii(bytes) & mine;
        for (uint32_t marks = (equal_to(bytes, NAME_END) & mine) | ends; marks != 0; marks &= marks - 1) {
            int place = __builtin_ctz(marks);
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
    return odd == 0;
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
