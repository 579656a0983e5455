/* Property texts and KEYS of many records: the twins of spark/text.py that cut spans. */
#include "columns.h"

#define SPACE ' '

/* Where the values of some names are; starts and lengths are of the row in question. */
typedef struct {
    const uint8_t *data;
    Py_ssize_t names, row;
    PyObject *wanted, *found;
} Search;

static inline void take_wanted(void *into, Span name, Span value)
{
    Search *search = into;
    for (Py_ssize_t i = 0; i < search->names; i++) {
        PyObject *wanted = PyTuple_GET_ITEM(search->wanted, i);
        if (!is_same(name, (Span){(const uint8_t *)PyBytes_AS_STRING(wanted), PyBytes_GET_SIZE(wanted)}))
            continue;
        int64_t start = value.bytes - search->data, length = value.size;
        memcpy(PyBytes_AS_STRING(PyTuple_GET_ITEM(search->found, 2 * i)) + 8 * search->row, &start, 8);
        memcpy(PyBytes_AS_STRING(PyTuple_GET_ITEM(search->found, 2 * i + 1)) + 8 * search->row, &length, 8);
    }
}

/* Return the starts (0) and lengths (-1) of values of which none is found yet. */
static PyObject *make_found(Py_ssize_t names, Py_ssize_t rows)
{
    PyObject *made = PyTuple_New(2 * names);
    for (Py_ssize_t i = 0; made != NULL && i < 2 * names; i++) {
        PyObject *numbers = PyBytes_FromStringAndSize(NULL, rows * 8);
        if (numbers == NULL) {
            Py_CLEAR(made);
            break;
        }
        memset(PyBytes_AS_STRING(numbers), i % 2 ? 0xFF : 0, (size_t)rows * 8);
        PyTuple_SET_ITEM(made, i, numbers);
    }
    return made;
}

/* find_properties(data, starts, lengths, names) -> (starts, lengths, starts, lengths, ...) */
PyObject *native_find_properties(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Spans spans;
    if (check_count(count, 4, "find_properties") < 0)
        return NULL;
    Py_ssize_t names = PyTuple_Check(args[3]) ? PyTuple_GET_SIZE(args[3]) : -1;
    for (Py_ssize_t i = 0; i < names; i++)
        if (!PyBytes_Check(PyTuple_GET_ITEM(args[3], i)))
            names = -1;
    if (names < 0) {
        PyErr_SetString(PyExc_TypeError, "names are a tuple of bytes");
        return NULL;
    }
    if (read_spans(args, &spans) < 0)
        return NULL;
    Search search = {spans.data.buf, names, 0, args[3], make_found(names, spans.rows)};
    for (; search.found != NULL && search.row < spans.rows; search.row++)
        each_pair(span_at(&spans, search.row), spans.stop, take_wanted, &search);
    drop_spans(&spans);
    return search.found;
}

void take_pair(void *into, Span name, Span value)
{
    Pairs *pairs = into;
    if (pairs->pairs == MOST_PAIRS) {
        pairs->has_more = 1;
        return;
    }
    pairs->name[pairs->pairs] = name;
    pairs->value[pairs->pairs++] = value;
}

/* Add the pairs of a row, of a repeated name the last value in the place of the last. */
int add_pairs(const Pairs *pairs, Column *names, Column *values)
{
    for (int i = 0; i < pairs->pairs; i++) {
        int later = i + 1;
        while (later < pairs->pairs && !is_same(pairs->name[i], pairs->name[later]))
            later++;
        if (later < pairs->pairs)
            continue;
        if (add_to(names, pairs->name[i]) < 0 || add_to(values, pairs->value[i]) < 0)
            return -1;
    }
    return 0;
}

/* Add the words between the spaces of a text. */
int add_words(Span text, const uint8_t *stop, Column *words)
{
    const uint8_t *begin = text.bytes, *end = text.bytes + text.size;
    Wide room;
    for (const uint8_t *at = begin; at < end; at += WIDE) {
        uint64_t spaces = equal_to(load_wide(at, stop, &room), SPACE) & first_bits(end - at);
        for (; spaces != 0; spaces &= spaces - 1) {
            const uint8_t *space = at + __builtin_ctzll(spaces);
            if (space > begin && add_to(words, (Span){begin, space - begin}) < 0)
                return -1;
            begin = space + 1;
        }
    }
    return end > begin ? add_to(words, (Span){begin, end - begin}) : 0;
}

/* split_pairs(data, starts, lengths) -> (first, name offsets, names, value offsets, values), None for many pairs */
PyObject *native_split_pairs(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Spans spans;
    Column names = {0}, values = {0};
    PyObject *made = NULL;
    if (check_count(count, 3, "split_pairs") < 0 || read_spans(args, &spans) < 0)
        return NULL;
    /* The shortest pair and its separator have four bytes. */
    Py_ssize_t most = (spans.bytes + spans.rows) / 4 + 1;
    PyObject *first = PyBytes_FromStringAndSize(NULL, (spans.rows + 1) * 4);
    if (first != NULL && make_column(&names, most, spans.bytes) == 0 && make_column(&values, most, spans.bytes) == 0) {
        char *at = PyBytes_AS_STRING(first);
        memcpy(at, &names.count, 4);
        Py_ssize_t row = 0;
        Pairs pairs = {.pairs = 0, .has_more = 0};
        for (; row < spans.rows && !pairs.has_more; row++) {
            pairs.pairs = 0;
            each_pair(span_at(&spans, row), spans.stop, take_pair, &pairs);
            if (add_pairs(&pairs, &names, &values) < 0)
                break;
            memcpy(at + 4 * (row + 1), &names.count, 4);
        }
        if (pairs.has_more)
            made = Py_NewRef(Py_None);
        else if (row == spans.rows && finish_column(&names) == 0 && finish_column(&values) == 0)
            made = PyTuple_Pack(5, first, names.offsets, names.text, values.offsets, values.text);
    }
    Py_XDECREF(first);
    drop_column(&names);
    drop_column(&values);
    drop_spans(&spans);
    return made;
}

/* split_words(data, starts, lengths) -> (first, offsets, words) */
PyObject *native_split_words(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Spans spans;
    Column words = {0};
    PyObject *made = NULL;
    if (check_count(count, 3, "split_words") < 0 || read_spans(args, &spans) < 0)
        return NULL;
    PyObject *first = PyBytes_FromStringAndSize(NULL, (spans.rows + 1) * 4);
    if (first != NULL && make_column(&words, (spans.bytes + spans.rows) / 2 + 1, spans.bytes) == 0) {
        char *at = PyBytes_AS_STRING(first);
        memcpy(at, &words.count, 4);
        Py_ssize_t row = 0;
        for (; row < spans.rows && add_words(span_at(&spans, row), spans.stop, &words) == 0; row++)
            memcpy(at + 4 * (row + 1), &words.count, 4);
        if (row == spans.rows && finish_column(&words) == 0)
            made = PyTuple_Pack(3, first, words.offsets, words.text);
    }
    Py_XDECREF(first);
    drop_column(&words);
    drop_spans(&spans);
    return made;
}
