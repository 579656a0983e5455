/* The twins of protocol/fields.py: from the text form of a header to its object, and back. */
#include "native.h"
#include <structmember.h>

#define LONGEST_NUMBER 18 /* digits that surely fit 64 bits */

/* Return the integer that a text states in its usual form; NULL without an exception for any other text. */
static PyObject *integer_of(PyObject *text, int64_t low, int64_t high)
{
    if (!PyUnicode_IS_ASCII(text))
        return NULL;
    const uint8_t *at = PyUnicode_1BYTE_DATA(text), *end = at + PyUnicode_GET_LENGTH(text);
    int is_negative = at < end && *at == '-';
    at += is_negative;
    if (at == end || end - at > LONGEST_NUMBER)
        return NULL;
    int64_t value = 0;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9')
            return NULL;
        value = value * 10 + (*at - '0');
    }
    value = is_negative ? -value : value;
    return value < low || value > high ? NULL : PyLong_FromLongLong(value);
}

static PyObject *boolean_of(PyObject *text)
{
    if (PyUnicode_CompareWithASCIIString(text, "false") == 0)
        return Py_NewRef(Py_False);
    return PyUnicode_CompareWithASCIIString(text, "true") == 0 ? Py_NewRef(Py_True) : NULL;
}

static PyObject *value_of_kind(PyObject *text, Py_UCS4 kind)
{
    if (!PyUnicode_Check(text))
        return NULL;
    switch (kind) {
    case 's':
        return Py_NewRef(text);
    case 'i':
        return integer_of(text, INT32_MIN, INT32_MAX);
    case 'q':
        return integer_of(text, INT64_MIN, INT64_MAX);
    case 'b':
        return boolean_of(text);
    default:
        return NULL;
    }
}

static int is_plan(PyObject *plan, PyTypeObject *type)
{
    return PyTuple_Check(plan) && PyTuple_GET_SIZE(plan) == 4 && PyUnicode_Check(PyTuple_GET_ITEM(plan, 0)) &&
           PyObject_TypeCheck(PyTuple_GET_ITEM(plan, 1), &PyMemberDescr_Type) &&
           ((PyDescrObject *)PyTuple_GET_ITEM(plan, 1))->d_type == type &&
           PyUnicode_Check(PyTuple_GET_ITEM(plan, 2)) && PyUnicode_GET_LENGTH(PyTuple_GET_ITEM(plan, 2)) == 1;
}

/* Return where in a header the field of a plan stands. */
static PyObject **slot_of(PyObject *header, PyObject *plan)
{
    return (PyObject **)((char *)header + ((PyMemberDescrObject *)PyTuple_GET_ITEM(plan, 1))->d_member->offset);
}

/* Set one field; return 0 for what Python must look at. */
static int set_field(PyObject *header, PyTypeObject *type, PyObject *plan, PyObject *fields)
{
    if (!is_plan(plan, type))
        return 0;
    PyObject *value, *fallback = PyTuple_GET_ITEM(plan, 3);
    PyObject *text = PyDict_GetItemWithError(fields, PyTuple_GET_ITEM(plan, 0));
    if (text != NULL)
        value = value_of_kind(text, PyUnicode_READ_CHAR(PyTuple_GET_ITEM(plan, 2), 0));
    else
        value = fallback == Py_Ellipsis ? NULL : Py_NewRef(fallback);
    if (value == NULL)
        return 0;
    Py_XSETREF(*slot_of(header, plan), value);
    return 1;
}

/* decode_fields(type, plans, fields) -> a header; None for what Python must look at. A plan is the name on the wire, the
 * slot, the kind (s text, i and q integers of 32 and 64 bits, b boolean), and what an absent field is: ... if it must
 * not be absent. */
PyObject *native_decode_fields(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (check_count(count, 3, "decode_fields") < 0)
        return NULL;
    if (!PyType_Check(args[0]) || !PyTuple_Check(args[1]) || !PyDict_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "decode_fields takes a type, a tuple of plans and a dict");
        return NULL;
    }
    PyTypeObject *type = (PyTypeObject *)args[0];
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        PyErr_SetString(PyExc_TypeError, "decode_fields takes a class with slots");
        return NULL;
    }
    PyObject *header = type->tp_alloc(type, 0);
    if (header == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); i++)
        if (!set_field(header, type, PyTuple_GET_ITEM(args[1], i), args[2])) {
            Py_DECREF(header);
            if (PyErr_Occurred())
                return NULL;
            Py_RETURN_NONE;
        }
    return header;
}

/* Return the text of a value of its field's own type; NULL without an exception for any other value. */
static PyObject *text_of(PyObject *value, Py_UCS4 kind)
{
    switch (kind) {
    case 's':
        return PyUnicode_CheckExact(value) ? Py_NewRef(value) : NULL;
    case 'i':
    case 'q':
        return PyLong_CheckExact(value) ? PyObject_Str(value) : NULL;
    case 'b':
        return PyBool_Check(value) ? PyUnicode_FromString(value == Py_True ? "true" : "false") : NULL;
    default:
        return NULL;
    }
}

/* Put one field; return 0 for what Python must look at. */
static int put_field(PyObject *fields, PyObject *header, PyObject *plan)
{
    if (!is_plan(plan, Py_TYPE(header)))
        return 0;
    PyObject *value = *slot_of(header, plan);
    if (value == Py_None)
        return 1;
    PyObject *text = value == NULL ? NULL : text_of(value, PyUnicode_READ_CHAR(PyTuple_GET_ITEM(plan, 2), 0));
    if (text == NULL)
        return 0;
    int failed = PyDict_SetItem(fields, PyTuple_GET_ITEM(plan, 0), text);
    Py_DECREF(text);
    return failed == 0;
}

/* encode_fields(header, plans) -> its text form; None for what Python must look at. */
PyObject *native_encode_fields(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (check_count(count, 2, "encode_fields") < 0)
        return NULL;
    if (!PyTuple_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "encode_fields takes a header and a tuple of plans");
        return NULL;
    }
    PyObject *fields = PyDict_New();
    if (fields == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); i++)
        if (!put_field(fields, args[0], PyTuple_GET_ITEM(args[1], i))) {
            Py_DECREF(fields);
            if (PyErr_Occurred())
                return NULL;
            Py_RETURN_NONE;
        }
    return fields;
}
