#include "native.h"

int as_int64(PyObject *object, int64_t *value)
{
    long long number = PyLong_AsLongLong(object);
    if (number == -1 && PyErr_Occurred())
        return -1;
    *value = number;
    return 0;
}

int as_int32(PyObject *object, int32_t *value)
{
    int64_t number;
    if (as_int64(object, &number) < 0)
        return -1;
    if (number < INT32_MIN || number > INT32_MAX) {
        PyErr_Format(PyExc_OverflowError, "%lld does not fit 32 bits", (long long)number);
        return -1;
    }
    *value = (int32_t)number;
    return 0;
}

int check_count(Py_ssize_t given, Py_ssize_t wanted, const char *name)
{
    if (given == wanted)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, wanted, given);
    return -1;
}
