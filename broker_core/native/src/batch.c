/* The twin of `decode_batch` in protocol/batch.py. */
#include "native.h"

#define HEAD 20
#define FLAG_AT 12
#define BODY_LENGTH_AT 16

static PyObject *make_entry(PyTypeObject *type, int32_t flag, const uint8_t *body, Py_ssize_t body_size,
                            const uint8_t *text, Py_ssize_t text_size)
{
    PyObject *entry = type->tp_alloc(type, 3);
    if (entry == NULL)
        return NULL;
    PyObject *parts[3] = {
        PyLong_FromLong(flag),
        PyBytes_FromStringAndSize((const char *)body, body_size),
        PyUnicode_DecodeUTF8((const char *)text, text_size, NULL),
    };
    for (int i = 0; i < 3; i++)
        PyTuple_SET_ITEM(entry, i, parts[i]);
    if (parts[0] == NULL || parts[1] == NULL || parts[2] == NULL)
        Py_CLEAR(entry);
    return entry;
}

/* decode_batch(type, body) -> the entries, or None if the body is not sound: Python says what is wrong with it */
PyObject *native_decode_batch(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (check_count(count, 2, "decode_batch") < 0)
        return NULL;
    PyTypeObject *type = (PyTypeObject *)args[0];
    if (!PyType_Check(args[0]) || !PyType_IsSubtype(type, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "decode_batch takes a tuple type");
        return NULL;
    }
    Py_buffer data;
    if (PyObject_GetBuffer(args[1], &data, PyBUF_SIMPLE) < 0)
        return NULL;
    const uint8_t *at = data.buf, *end = at + data.len;
    PyObject *entries = PyList_New(0);
    while (entries != NULL && at < end) {
        PyObject *entry = NULL;
        if (end - at >= HEAD + 2) {
            int32_t flag = (int32_t)get32(at + FLAG_AT), body_size = (int32_t)get32(at + BODY_LENGTH_AT);
            const uint8_t *body = at + HEAD;
            if (body_size >= 0 && end - body - 2 >= body_size) {
                const uint8_t *text = body + body_size + 2;
                int16_t text_size = (int16_t)get16(text - 2);
                if (text_size >= 0 && end - text >= text_size) {
                    entry = make_entry(type, flag, body, body_size, text, text_size);
                    at = text + text_size;
                }
            }
        }
        if (entry == NULL || PyList_Append(entries, entry) < 0)
            Py_CLEAR(entries);
        Py_XDECREF(entry);
    }
    int is_empty = data.len == 0;
    PyBuffer_Release(&data);
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        Py_XDECREF(entries);
        return NULL;
    }
    PyErr_Clear();
    if (entries != NULL && !is_empty)
        return entries;
    Py_XDECREF(entries);
    Py_RETURN_NONE;
}
