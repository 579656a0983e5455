/* What a client sends: the twins of `format_properties` in protocol/properties.py and `encode_entries` in
 * protocol/batch.py. */
#include "native.h"

#define ENTRY_FIXED 22 /* five integers before the body, the length of the text behind it */

/* Measure one pair; return 0 for one that Python must look at. An empty name or value takes no room. */
static int pair_of(PyObject *name, PyObject *value, Span *left, Span *right)
{
    if (!PyUnicode_CheckExact(name) || !PyUnicode_CheckExact(value))
        return 0;
    if (text_span(name, left) < 0 || text_span(value, right) < 0) {
        PyErr_Clear();
        return 0;
    }
    return memchr(left->bytes, PAIR_END, (size_t)left->size) == NULL &&
           memchr(right->bytes, PAIR_END, (size_t)right->size) == NULL;
}

static uint8_t *put_span(uint8_t *at, Span span)
{
    memcpy(at, span.bytes, (size_t)span.size);
    return at + span.size;
}

/* format_properties(properties) -> the property text, or None if Python must look at a pair */
PyObject *native_format_properties(PyObject *module, PyObject *properties)
{
    if (!PyDict_CheckExact(properties))
        Py_RETURN_NONE;
    PyObject *name, *value;
    Py_ssize_t place = 0, size = 0;
    Span left, right;
    int is_plain = 1;
    while (PyDict_Next(properties, &place, &name, &value)) {
        if (!pair_of(name, value, &left, &right))
            Py_RETURN_NONE;
        if (left.size > 0 && right.size > 0) {
            size += left.size + right.size + 2;
            is_plain &= PyUnicode_IS_ASCII(name) && PyUnicode_IS_ASCII(value);
        }
    }
    if (size == 0)
        return PyUnicode_FromString("");
    PyObject *text = is_plain ? PyUnicode_New(size - 1, 127) : PyBytes_FromStringAndSize(NULL, size - 1);
    if (text == NULL)
        return NULL;
    uint8_t *begin = is_plain ? PyUnicode_1BYTE_DATA(text) : (uint8_t *)PyBytes_AS_STRING(text), *at = begin;
    for (place = 0; PyDict_Next(properties, &place, &name, &value);) {
        if (!pair_of(name, value, &left, &right) || left.size == 0 || right.size == 0)
            continue;
        if (at > begin)
            *at++ = PAIR_END;
        at = put_span(at, left);
        *at++ = NAME_END;
        at = put_span(at, right);
    }
    if (at[-1] == 0) { /* readers would take it for a text that a crash cut off */
        Py_DECREF(text);
        Py_RETURN_NONE;
    }
    if (is_plain)
        return text;
    PyObject *decoded = PyUnicode_DecodeUTF8((const char *)begin, size - 1, NULL);
    Py_DECREF(text);
    return decoded;
}

static int entry_of(PyObject *each, int32_t *flag, Span *body, Span *text)
{
    if (!PyTuple_Check(each) || PyTuple_GET_SIZE(each) != 3 || !PyBytes_CheckExact(PyTuple_GET_ITEM(each, 1)))
        return 0;
    *body = (Span){(const uint8_t *)PyBytes_AS_STRING(PyTuple_GET_ITEM(each, 1)),
                   PyBytes_GET_SIZE(PyTuple_GET_ITEM(each, 1))};
    if (as_int32(PyTuple_GET_ITEM(each, 0), flag) < 0 || text_span(PyTuple_GET_ITEM(each, 2), text) < 0) {
        PyErr_Clear();
        return 0;
    }
    return text->size <= LONGEST_PROPERTIES && body->size <= INT32_MAX - ENTRY_FIXED - LONGEST_PROPERTIES;
}

/* encode_entries(entries) -> the body of a batch, or None if Python must look at an entry */
PyObject *native_encode_entries(PyObject *module, PyObject *entries)
{
    if (!PyList_CheckExact(entries))
        Py_RETURN_NONE;
    Py_ssize_t many = PyList_GET_SIZE(entries), size = 0;
    int32_t flag;
    Span body, text;
    for (Py_ssize_t i = 0; i < many; i++) {
        if (!entry_of(PyList_GET_ITEM(entries, i), &flag, &body, &text))
            Py_RETURN_NONE;
        size += ENTRY_FIXED + body.size + text.size;
    }
    PyObject *batch = PyBytes_FromStringAndSize(NULL, size);
    if (batch == NULL)
        return NULL;
    uint8_t *at = (uint8_t *)PyBytes_AS_STRING(batch);
    for (Py_ssize_t i = 0; i < many; i++) {
        if (!entry_of(PyList_GET_ITEM(entries, i), &flag, &body, &text))
            break; /* it was sound a moment ago, and nothing ran meanwhile */
        put32(at, (uint32_t)(ENTRY_FIXED + body.size + text.size));
        put64(at + 4, 0); /* magic and CRC, which readers ignore */
        put32(at + 12, (uint32_t)flag);
        put32(at + 16, (uint32_t)body.size);
        at = put_span(at + 20, body);
        put16(at, (uint16_t)text.size);
        at = put_span(at + 2, text);
    }
    return batch;
}
