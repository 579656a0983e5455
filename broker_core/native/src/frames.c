/* The twin of `cut_frames` in protocol/frame.py. */
#include "native.h"

#define PREFIX 8
#define LENGTH 4
#define HEADER_MASK 0xFFFFFFu
#define LARGEST_SERIALIZER 1

static PyObject *make_frame(PyTypeObject *type, PyObject *data, uint32_t serializer, Py_ssize_t header_at,
                            Py_ssize_t body_at, Py_ssize_t end)
{
    const char *bytes = PyBytes_AS_STRING(data);
    PyObject *frame = new_tuple(type, 3);
    if (frame == NULL)
        return NULL;
    PyObject *parts[3] = {
        PyLong_FromUnsignedLong(serializer),
        PyBytes_FromStringAndSize(bytes + header_at, body_at - header_at),
        PyBytes_FromStringAndSize(bytes + body_at, end - body_at),
    };
    for (int i = 0; i < 3; i++)
        PyTuple_SET_ITEM(frame, i, parts[i]);
    if (parts[0] == NULL || parts[1] == NULL || parts[2] == NULL) {
        Py_DECREF(frame);
        return NULL;
    }
    return frame;
}

/* cut_frames(frame_type, data, max_frame, max_header, frames) -> position; frames is filled */
PyObject *native_cut_frames(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (check_count(count, 5, "cut_frames") < 0)
        return NULL;
    PyTypeObject *type = (PyTypeObject *)args[0];
    PyObject *data = args[1], *frames = args[4];
    if (!PyType_Check(args[0]) || !PyType_IsSubtype(type, &PyTuple_Type) || !PyBytes_Check(data) ||
        !PyList_Check(frames)) {
        PyErr_SetString(PyExc_TypeError, "cut_frames takes a tuple type, bytes, two numbers and a list");
        return NULL;
    }
    int64_t max_frame, max_header;
    if (as_int64(args[2], &max_frame) < 0 || as_int64(args[3], &max_header) < 0)
        return NULL;
    const uint8_t *bytes = (const uint8_t *)PyBytes_AS_STRING(data);
    Py_ssize_t size = PyBytes_GET_SIZE(data), position = 0;
    while (size - position >= PREFIX) {
        uint32_t length = get32(bytes + position), word = get32(bytes + position + LENGTH);
        int64_t header_size = word & HEADER_MASK;
        if ((int64_t)length > max_frame - LENGTH || header_size + LENGTH > (int64_t)length || header_size == 0 ||
            header_size > max_header || word >> 24 > LARGEST_SERIALIZER)
            break;
        Py_ssize_t end = position + LENGTH + (Py_ssize_t)length;
        if (end > size)
            break;
        Py_ssize_t header_at = position + PREFIX;
        PyObject *frame = make_frame(type, data, word >> 24, header_at, header_at + (Py_ssize_t)header_size, end);
        if (frame == NULL || PyList_Append(frames, frame) < 0) {
            Py_XDECREF(frame);
            return NULL;
        }
        Py_DECREF(frame);
        position = end;
    }
    return PyLong_FromSsize_t(position);
}
