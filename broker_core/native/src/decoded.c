/* Columns of texts and bodies, made of each record while it is checked and its bytes are near: what
 * `batches.Batch` makes of spans otherwise, for records of which none is damaged. */
#include "columns.h"

#define USUAL_TEXT 16
#define USUAL_PAIRS 8

/* What one property text says: the values that have columns of their own, and which names it has. */
typedef struct {
    Decoded *decoded;
    Span unique_id, tag, keys;
    uint64_t names; /* a bit for each size and first byte */
    int may_repeat, failed;
} Text;

static inline void take_known(Text *text, Span name, Span value)
{
    if (name.size == 8 && memcmp(name.bytes, "UNIQ_KEY", 8) == 0)
        text->unique_id = value;
    else if (name.size == 4 && memcmp(name.bytes, "TAGS", 4) == 0)
        text->tag = value;
    else if (name.size == 4 && memcmp(name.bytes, "KEYS", 4) == 0)
        text->keys = value;
}

static inline void take_values(void *into, Span name, Span value)
{
    take_known(into, name, value);
}

static inline void take_all(void *into, Span name, Span value)
{
    Text *text = into;
    if (text->failed)
        return;
    uint64_t bit = (uint64_t)1 << ((uint64_t)name.size * 31 + *name.bytes) % 64;
    take_known(text, name, value);
    text->may_repeat |= (text->names & bit) != 0;
    text->names |= bit;
    if (add_to(&text->decoded->names, name) < 0 || add_to(&text->decoded->values, value) < 0)
        text->failed = 1;
}

/* Add the pairs of a text again, of a repeated name only the last one; return as `decode_text`. */
static int add_without_repeats(Decoded *decoded, Column names, Column values, Span span, const uint8_t *stop)
{
    Pairs pairs;
    pairs.pairs = pairs.has_more = 0;
    each_pair(span, stop, take_pair, &pairs);
    decoded->names.count = names.count;
    decoded->names.size = names.size;
    decoded->values.count = values.count;
    decoded->values.size = values.size;
    if (pairs.has_more)
        return 0;
    return add_pairs(&pairs, &decoded->names, &decoded->values) < 0 ? -1 : 1;
}

static int make_nullable(Nullable *into, Py_ssize_t rows)
{
    into->valid = PyBytes_FromStringAndSize(NULL, (rows + 7) / 8);
    if (into->valid == NULL)
        return -1;
    memset(PyBytes_AS_STRING(into->valid), 0xFF, (size_t)(rows + 7) / 8);
    return make_column(&into->column, rows, rows * USUAL_TEXT);
}

/* Add a text; an empty one stands for null. */
static int add_nullable(Nullable *into, Py_ssize_t row, Span text)
{
    if (text.size == 0) {
        PyBytes_AS_STRING(into->valid)[row / 8] &= (char)~(1u << row % 8);
        into->nulls++;
    }
    return add_to(&into->column, text);
}

static PyObject *make_first(Py_ssize_t rows)
{
    PyObject *first = PyBytes_FromStringAndSize(NULL, (rows + 1) * 4);
    if (first != NULL)
        memset(PyBytes_AS_STRING(first), 0, 4);
    return first;
}

/* Begin the wanted columns of so many records with so many bytes. */
int make_decoded(Decoded *decoded, int32_t wants, Py_ssize_t rows, Py_ssize_t bytes)
{
    *decoded = (Decoded){.wants = wants};
    if ((wants & BODY && make_column(&decoded->body, rows, bytes) < 0) ||
        (wants & UNIQUE_ID && make_nullable(&decoded->unique_id, rows) < 0) ||
        (wants & TAG && make_nullable(&decoded->tag, rows) < 0) ||
        (wants & KEY && make_nullable(&decoded->key, rows) < 0))
        return -1;
    if (wants & KEY_WORDS && (make_column(&decoded->words, 2 * rows, 2 * rows * USUAL_TEXT) < 0 ||
                              (decoded->first_word = make_first(rows)) == NULL))
        return -1;
    if (wants & PROPERTIES && (make_column(&decoded->names, rows * USUAL_PAIRS, rows * USUAL_PAIRS * USUAL_TEXT) < 0 ||
                               make_column(&decoded->values, rows * USUAL_PAIRS, rows * USUAL_PAIRS * USUAL_TEXT) < 0 ||
                               (decoded->first_pair = make_first(rows)) == NULL))
        return -1;
    return 0;
}

static Span first_word(Span text)
{
    while (text.size > 0 && *text.bytes == ' ') {
        text.bytes++;
        text.size--;
    }
    const uint8_t *space = text.size > 0 ? memchr(text.bytes, ' ', (size_t)text.size) : NULL;
    return space == NULL ? text : (Span){text.bytes, space - text.bytes};
}

/* Add what the property text of a record says. Return 1; 0 if Python must do it: the text is not UTF-8, or has very many
 * pairs; -1 with an exception set if there is no memory. */
int decode_text(Decoded *decoded, Py_ssize_t row, Span span, const uint8_t *stop)
{
    Text text = {.decoded = decoded};
    Column names = decoded->names, values = decoded->values;
    if (decoded->wants & PROPERTIES)
        each_pair(span, stop, take_all, &text);
    else
        each_pair(span, stop, take_values, &text);
    if (text.failed)
        return -1;
    if (!is_ascii(span) && !check_utf8(span)) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    if ((decoded->wants & UNIQUE_ID && add_nullable(&decoded->unique_id, row, text.unique_id) < 0) ||
        (decoded->wants & TAG && add_nullable(&decoded->tag, row, text.tag) < 0) ||
        (decoded->wants & KEY && add_nullable(&decoded->key, row, first_word(text.keys)) < 0))
        return -1;
    if (decoded->wants & KEY_WORDS) {
        if (add_words(text.keys, stop, &decoded->words) < 0)
            return -1;
        memcpy(PyBytes_AS_STRING(decoded->first_word) + 4 * (row + 1), &decoded->words.count, 4);
    }
    if (decoded->wants & PROPERTIES) {
        int added = text.may_repeat ? add_without_repeats(decoded, names, values, span, stop) : 1;
        if (added <= 0)
            return added;
        memcpy(PyBytes_AS_STRING(decoded->first_pair) + 4 * (row + 1), &decoded->names.count, 4);
    }
    return 1;
}

static PyObject *take_nullable(Nullable *from)
{
    if (from->column.offsets == NULL)
        return Py_NewRef(Py_None);
    if (finish_column(&from->column) < 0)
        return NULL;
    return PyTuple_Pack(3, from->nulls ? from->valid : Py_None, from->column.offsets, from->column.text);
}

static PyObject *take_words(Decoded *decoded)
{
    if (decoded->first_word == NULL)
        return Py_NewRef(Py_None);
    if (finish_column(&decoded->words) < 0)
        return NULL;
    return PyTuple_Pack(3, decoded->first_word, decoded->words.offsets, decoded->words.text);
}

static PyObject *take_pairs(Decoded *decoded)
{
    if (decoded->first_pair == NULL)
        return Py_NewRef(Py_None);
    if (finish_column(&decoded->names) < 0 || finish_column(&decoded->values) < 0)
        return NULL;
    return PyTuple_Pack(5, decoded->first_pair, decoded->names.offsets, decoded->names.text, decoded->values.offsets,
                        decoded->values.text);
}

/* The body's bytes keep the room that they have: they are many. */
static PyObject *take_body(Decoded *decoded)
{
    if (decoded->body.offsets == NULL)
        return Py_NewRef(Py_None);
    return PyTuple_Pack(3, Py_None, decoded->body.offsets, decoded->body.text);
}

/* Return the fields of `store.columns.Decoded`. */
PyObject *take_decoded(Decoded *decoded)
{
    PyObject *parts[] = {take_body(decoded), take_nullable(&decoded->unique_id), take_nullable(&decoded->tag),
                         take_nullable(&decoded->key), take_words(decoded), take_pairs(decoded)};
    enum { PARTS = sizeof parts / sizeof *parts };
    PyObject *made = NULL;
    int all = 1;
    for (int i = 0; i < PARTS; i++)
        all = all && parts[i] != NULL;
    if (all)
        made = PyTuple_Pack(PARTS, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]);
    for (int i = 0; i < PARTS; i++)
        Py_XDECREF(parts[i]);
    return made;
}

void drop_decoded(Decoded *decoded)
{
    Nullable *nullable[] = {&decoded->unique_id, &decoded->tag, &decoded->key};
    for (int i = 0; i < 3; i++) {
        drop_column(&nullable[i]->column);
        Py_CLEAR(nullable[i]->valid);
    }
    Column *columns[] = {&decoded->body, &decoded->words, &decoded->names, &decoded->values};
    for (int i = 0; i < 4; i++)
        drop_column(columns[i]);
    Py_CLEAR(decoded->first_word);
    Py_CLEAR(decoded->first_pair);
}
