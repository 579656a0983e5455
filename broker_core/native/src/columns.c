/* Parts of many records as columns of Arrow: the twins of spark/text.py. Spans are positions and lengths in `data`; a
 * length of -1 stands for no value. Offsets of columns are int32, one more than rows. */
#include "native.h"

#define SPACE ' '
#define MOST_PAIRS 64

typedef struct {
    Py_buffer data, starts, lengths;
    Py_ssize_t rows;
    Py_ssize_t bytes; /* of all spans */
} Spans;

static void drop_spans(Spans *spans)
{
    for (Py_buffer *each = &spans->data; each <= &spans->lengths; each++)
        if (each->obj != NULL)
            PyBuffer_Release(each);
}

static Span span_at(const Spans *spans, Py_ssize_t row)
{
    int64_t length = ((const int64_t *)spans->lengths.buf)[row];
    if (length <= 0)
        return (Span){NULL, 0};
    return (Span){(const uint8_t *)spans->data.buf + ((const int64_t *)spans->starts.buf)[row], (Py_ssize_t)length};
}

static int check_spans(Spans *spans)
{
    for (Py_ssize_t row = 0; row < spans->rows; row++) {
        int64_t start = ((const int64_t *)spans->starts.buf)[row], length = ((const int64_t *)spans->lengths.buf)[row];
        if (length <= 0)
            continue;
        if (start < 0 || start > spans->data.len || length > spans->data.len - start) {
            PyErr_SetString(PyExc_ValueError, "a span is outside of the data");
            return -1;
        }
        spans->bytes += length;
        if (spans->bytes > INT32_MAX) {
            PyErr_SetString(PyExc_OverflowError, "the spans have more than 2 GiB");
            return -1;
        }
    }
    return 0;
}

static int read_spans(PyObject *const *args, Spans *spans)
{
    *spans = (Spans){0};
    if (PyObject_GetBuffer(args[0], &spans->data, PyBUF_SIMPLE) < 0 || args[1] == Py_None || args[2] == Py_None ||
        read_numbers(args[1], &spans->starts, -1) < 0 ||
        read_numbers(args[2], &spans->lengths, spans->starts.len / 8) < 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "spans have starts and lengths");
        drop_spans(spans);
        return -1;
    }
    spans->rows = spans->starts.len / 8;
    if (check_spans(spans) < 0) {
        drop_spans(spans);
        return -1;
    }
    return 0;
}

/* A column of texts that grows; `offsets` and `text` are bytes objects with room for all that may come. */
typedef struct {
    PyObject *offsets, *text;
    int32_t count, size;
} Column;

static int make_column(Column *column, Py_ssize_t most_rows, Py_ssize_t most_bytes)
{
    column->count = column->size = 0;
    column->offsets = PyBytes_FromStringAndSize(NULL, (most_rows + 1) * 4);
    column->text = PyBytes_FromStringAndSize(NULL, most_bytes);
    if (column->offsets == NULL || column->text == NULL)
        return -1;
    memset(PyBytes_AS_STRING(column->offsets), 0, 4);
    return 0;
}

static void add_to(Column *column, Span span)
{
    if (span.size > 0)
        memcpy(PyBytes_AS_STRING(column->text) + column->size, span.bytes, (size_t)span.size);
    column->size += (int32_t)span.size;
    column->count++;
    memcpy(PyBytes_AS_STRING(column->offsets) + 4 * (Py_ssize_t)column->count, &column->size, 4);
}

static int finish(Column *column)
{
    return _PyBytes_Resize(&column->offsets, ((Py_ssize_t)column->count + 1) * 4) < 0 ||
                   _PyBytes_Resize(&column->text, column->size) < 0
               ? -1
               : 0;
}

static void drop_column(Column *column)
{
    Py_CLEAR(column->offsets);
    Py_CLEAR(column->text);
}

/* gather_spans(data, starts, lengths) -> (offsets, bytes) */
PyObject *native_gather_spans(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Spans spans;
    Column column = {0};
    PyObject *made = NULL;
    if (check_count(count, 3, "gather_spans") < 0 || read_spans(args, &spans) < 0)
        return NULL;
    if (make_column(&column, spans.rows, spans.bytes) == 0) {
        for (Py_ssize_t row = 0; row < spans.rows; row++)
            add_to(&column, span_at(&spans, row));
        made = PyTuple_Pack(2, column.offsets, column.text);
    }
    drop_column(&column);
    drop_spans(&spans);
    return made;
}

static int is_plain(Span text)
{
    uint64_t high = 0, eight;
    for (; text.size >= 8; text.bytes += 8, text.size -= 8) {
        memcpy(&eight, text.bytes, 8);
        high |= eight;
    }
    for (; text.size > 0; text.bytes++, text.size--)
        high |= *text.bytes;
    return (high & 0x8080808080808080u) == 0;
}

/* are_utf8(data, starts, lengths) -> bool */
PyObject *native_are_utf8(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Spans spans;
    int sound = 1;
    if (check_count(count, 3, "are_utf8") < 0 || read_spans(args, &spans) < 0)
        return NULL;
    for (Py_ssize_t row = 0; sound && row < spans.rows; row++)
        sound = is_plain(span_at(&spans, row)) || check_utf8(span_at(&spans, row));
    drop_spans(&spans);
    if (!sound && !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
        return NULL;
    PyErr_Clear();
    return PyBool_FromLong(sound);
}

/* Cut the next sound pair off `rest`; return 0 if there is none. */
static int next_sound_pair(Span *rest, Span *name, Span *value)
{
    while (rest->size > 0) {
        const uint8_t *begin = rest->bytes, *stop = begin + rest->size;
        const uint8_t *end = memchr(begin, PAIR_END, (size_t)rest->size);
        if (end == NULL)
            end = stop;
        rest->bytes = end < stop ? end + 1 : stop;
        rest->size = stop - rest->bytes;
        const uint8_t *middle = memchr(begin, NAME_END, (size_t)(end - begin));
        if (middle == NULL || middle == begin || middle + 1 == end)
            continue;
        *name = (Span){begin, middle - begin};
        *value = (Span){middle + 1, end - middle - 1};
        return 1;
    }
    return 0;
}

static int is_same(Span one, Span other)
{
    return one.size == other.size && memcmp(one.bytes, other.bytes, (size_t)one.size) == 0;
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
    PyObject *made = PyTuple_New(2 * names);
    for (Py_ssize_t i = 0; made != NULL && i < 2 * names; i++) {
        PyObject *numbers = PyBytes_FromStringAndSize(NULL, spans.rows * 8);
        if (numbers == NULL) {
            Py_CLEAR(made);
            break;
        }
        memset(PyBytes_AS_STRING(numbers), i % 2 ? 0xFF : 0, (size_t)spans.rows * 8);
        PyTuple_SET_ITEM(made, i, numbers);
    }
    for (Py_ssize_t row = 0; made != NULL && row < spans.rows; row++) {
        Span rest = span_at(&spans, row), name, value;
        while (next_sound_pair(&rest, &name, &value))
            for (Py_ssize_t i = 0; i < names; i++) {
                PyObject *wanted = PyTuple_GET_ITEM(args[3], i);
                if (!is_same(name, (Span){(const uint8_t *)PyBytes_AS_STRING(wanted), PyBytes_GET_SIZE(wanted)}))
                    continue;
                int64_t start = value.bytes - (const uint8_t *)spans.data.buf, length = value.size;
                memcpy(PyBytes_AS_STRING(PyTuple_GET_ITEM(made, 2 * i)) + 8 * row, &start, 8);
                memcpy(PyBytes_AS_STRING(PyTuple_GET_ITEM(made, 2 * i + 1)) + 8 * row, &length, 8);
            }
    }
    drop_spans(&spans);
    return made;
}

/* Add the pairs of a row, of a repeated name the last value in the place of the last; return -1 if they are too many. */
static int add_pairs(Span text, Column *names, Column *values)
{
    Span name[MOST_PAIRS], value[MOST_PAIRS];
    int pairs = 0;
    while (text.size > 0) {
        if (pairs == MOST_PAIRS)
            return -1;
        pairs += next_sound_pair(&text, &name[pairs], &value[pairs]);
    }
    for (int i = 0; i < pairs; i++) {
        int later = i + 1;
        while (later < pairs && !is_same(name[i], name[later]))
            later++;
        if (later < pairs)
            continue;
        add_to(names, name[i]);
        add_to(values, value[i]);
    }
    return 0;
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
        for (; row < spans.rows && add_pairs(span_at(&spans, row), &names, &values) == 0; row++)
            memcpy(at + 4 * (row + 1), &names.count, 4);
        if (row < spans.rows)
            made = Py_NewRef(Py_None);
        else if (finish(&names) == 0 && finish(&values) == 0)
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
        for (Py_ssize_t row = 0; row < spans.rows; row++) {
            Span rest = span_at(&spans, row);
            while (rest.size > 0) {
                const uint8_t *end = memchr(rest.bytes, SPACE, (size_t)rest.size);
                Py_ssize_t size = end == NULL ? rest.size : end - rest.bytes;
                if (size > 0)
                    add_to(&words, (Span){rest.bytes, size});
                size += end != NULL;
                rest = (Span){rest.bytes + size, rest.size - size};
            }
            memcpy(at + 4 * (row + 1), &words.count, 4);
        }
        if (finish(&words) == 0)
            made = PyTuple_Pack(3, first, words.offsets, words.text);
    }
    Py_XDECREF(first);
    drop_column(&words);
    drop_spans(&spans);
    return made;
}
