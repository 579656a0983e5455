/* Parts of many records as columns of Arrow: the twins of spark/text.py that look at whole spans. */
#include "columns.h"
#if defined(__GLIBC__)
#include <malloc.h>

/* glibc takes no more. */
#define LARGEST_OF_HEAP (32 << 20)
#endif

void drop_spans(Spans *spans)
{
    for (Py_buffer *each = &spans->data; each <= &spans->lengths; each++)
        if (each->obj != NULL)
            PyBuffer_Release(each);
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

int read_spans(PyObject *const *args, Spans *spans)
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
    spans->stop = (const uint8_t *)spans->data.buf + spans->data.len;
    if (check_spans(spans) < 0) {
        drop_spans(spans);
        return -1;
    }
    return 0;
}

/* Begin a column with room for so many rows and bytes; more is added as it comes. */
int make_column(Column *column, Py_ssize_t rows, Py_ssize_t bytes)
{
    column->count = column->size = 0;
    if (rows >= INT32_MAX / 4 || bytes > INT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "a column has at most 2 GiB");
        return -1;
    }
    column->room = (int32_t)rows;
    column->text_room = (int32_t)bytes;
    column->offsets = PyBytes_FromStringAndSize(NULL, (rows + 1) * 4);
    column->text = PyBytes_FromStringAndSize(NULL, bytes);
    if (column->offsets == NULL || column->text == NULL)
        return -1;
    memset(PyBytes_AS_STRING(column->offsets), 0, 4);
    return 0;
}

/* Make room for one more row with so many bytes, and for as much again as there is. */
int grow_column(Column *column, Py_ssize_t more)
{
    Py_ssize_t rows = 2 * ((Py_ssize_t)column->count + 1), bytes = 2 * ((Py_ssize_t)column->size + more);
    if (rows >= INT32_MAX / 4 || bytes / 2 > INT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "a column has at most 2 GiB");
        return -1;
    }
    if (column->count == column->room) {
        if (_PyBytes_Resize(&column->offsets, (rows + 1) * 4) < 0)
            return -1;
        column->room = (int32_t)rows;
    }
    if (more > column->text_room - column->size) {
        bytes = bytes > INT32_MAX ? INT32_MAX : bytes;
        if (_PyBytes_Resize(&column->text, bytes) < 0)
            return -1;
        column->text_room = (int32_t)bytes;
    }
    return 0;
}

int finish_column(Column *column)
{
    return _PyBytes_Resize(&column->offsets, ((Py_ssize_t)column->count + 1) * 4) < 0 ||
                   _PyBytes_Resize(&column->text, column->size) < 0
               ? -1
               : 0;
}

void drop_column(Column *column)
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
        Py_ssize_t row = 0;
        while (row < spans.rows && add_to(&column, span_at(&spans, row)) == 0)
            row++;
        if (row == spans.rows)
            made = PyTuple_Pack(2, column.offsets, column.text);
    }
    drop_column(&column);
    drop_spans(&spans);
    return made;
}

/* are_utf8(data, starts, lengths) -> bool */
PyObject *native_are_utf8(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Spans spans;
    int sound = 1;
    if (check_count(count, 3, "are_utf8") < 0 || read_spans(args, &spans) < 0)
        return NULL;
    for (Py_ssize_t row = 0; sound && row < spans.rows; row++)
        sound = is_ascii(span_at(&spans, row)) || check_utf8(span_at(&spans, row));
    drop_spans(&spans);
    if (!sound && !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
        return NULL;
    PyErr_Clear();
    return PyBool_FromLong(sound);
}

/* keep_freed_memory(bytes): the C library gives freed memory back to the system only above so much. A column of a block is
 * so large that it would be mapped for itself, and pages that are new with each block cost more than the copy. Does
 * nothing without glibc. */
PyObject *native_keep_freed_memory(PyObject *module, PyObject *argument)
{
    int32_t bytes;
    if (as_int32(argument, &bytes) < 0)
        return NULL;
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, LARGEST_OF_HEAP);
    mallopt(M_TRIM_THRESHOLD, bytes);
#endif
    return Py_NewRef(Py_None);
}

/* swap_field(rows, row_size, at, width) -> bytes */
PyObject *native_swap_field(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Py_buffer rows;
    int32_t size, at, width;
    if (check_count(count, 4, "swap_field") < 0 || as_int32(args[1], &size) < 0 || as_int32(args[2], &at) < 0 ||
        as_int32(args[3], &width) < 0 || PyObject_GetBuffer(args[0], &rows, PyBUF_SIMPLE) < 0)
        return NULL;
    PyObject *made = NULL;
    if ((width != 4 && width != 8) || at < 0 || at > INT32_MAX - width || size < at + width || rows.len % size != 0)
        PyErr_SetString(PyExc_ValueError, "a field has 4 or 8 bytes and lies in its row");
    else if ((made = PyBytes_FromStringAndSize(NULL, rows.len / size * width)) != NULL) {
        uint8_t *to = (uint8_t *)PyBytes_AS_STRING(made);
        const uint8_t *from = (const uint8_t *)rows.buf + at, *stop = (const uint8_t *)rows.buf + rows.len;
        if (width == 4)
            for (; from < stop; from += size, to += 4)
                put32(to, *(const uint32_t *)memcpy(&(uint32_t){0}, from, 4));
        else
            for (; from < stop; from += size, to += 8)
                put64(to, *(const uint64_t *)memcpy(&(uint64_t){0}, from, 8));
    }
    PyBuffer_Release(&rows);
    return made;
}
