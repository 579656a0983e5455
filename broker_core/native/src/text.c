/* Property text: `name U+0001 value U+0002 name …`; the twins of broker/sent_text.py and protocol/properties.py. */
#include "native.h"

typedef struct {
    PyObject *text;
    int kind;
    const void *data;
    Py_ssize_t length;
} Chars;

static Chars chars_of(PyObject *text)
{
    return (Chars){text, PyUnicode_KIND(text), PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text)};
}

static Py_ssize_t pair_end(const Chars *chars, Py_ssize_t begin)
{
    if (chars->kind == PyUnicode_1BYTE_KIND) {
        const uint8_t *bytes = chars->data;
        const uint8_t *found = memchr(bytes + begin, PAIR_END, (size_t)(chars->length - begin));
        return found == NULL ? chars->length : found - bytes;
    }
    while (begin < chars->length && PyUnicode_READ(chars->kind, chars->data, begin) != PAIR_END)
        begin++;
    return begin;
}

/* Return where the value begins of a pair that is called `name`; -1 for any other pair. */
static Py_ssize_t value_begin(const Chars *chars, Py_ssize_t begin, Py_ssize_t end, const char *name)
{
    for (; *name; name++, begin++)
        if (begin >= end || PyUnicode_READ(chars->kind, chars->data, begin) != (Py_UCS4)*name)
            return -1;
    return begin < end && PyUnicode_READ(chars->kind, chars->data, begin) == NAME_END ? begin + 1 : -1;
}

/* Find the last value of `name` that is not empty; NULL if there is none, else the text itself, not a new reference. */
PyObject *value_of(PyObject *text, const char *name, Py_ssize_t *begin, Py_ssize_t *end)
{
    Chars chars = chars_of(text);
    PyObject *found = NULL;
    for (Py_ssize_t at = 0; at < chars.length;) {
        Py_ssize_t stop = pair_end(&chars, at);
        Py_ssize_t value = value_begin(&chars, at, stop, name);
        if (value >= 0 && value < stop) {
            *begin = value;
            *end = stop;
            found = text;
        }
        at = stop + 1;
    }
    return found;
}

/* Carry Java's String.hashCode over the UTF-16 units of a part of `text`. */
uint32_t hash_units(uint32_t hash, PyObject *text, Py_ssize_t begin, Py_ssize_t end)
{
    Chars chars = chars_of(text);
    if (chars.kind == PyUnicode_1BYTE_KIND) {
        const uint8_t *bytes = chars.data;
        for (; begin < end; begin++)
            hash = 31 * hash + bytes[begin];
        return hash;
    }
    for (; begin < end; begin++) {
        Py_UCS4 point = PyUnicode_READ(chars.kind, chars.data, begin);
        if (point >= 0x10000) {
            point -= 0x10000;
            hash = 31 * hash + (0xD800 | point >> 10);
            point = 0xDC00 | (point & 0x3FF);
        }
        hash = 31 * hash + point;
    }
    return hash;
}

static int equals_true(const Chars *chars, Py_ssize_t begin, Py_ssize_t end)
{
    static const char wanted[] = "true";
    if (end - begin != 4)
        return 0;
    for (int i = 0; i < 4; i++)
        if ((PyUnicode_READ(chars->kind, chars->data, begin + i) | 0x20) != (Py_UCS4)wanted[i])
            return 0;
    return 1;
}

/* Return `text` without the pair from `begin` to `end`, its separator included. */
static PyObject *without(PyObject *text, Py_ssize_t begin, Py_ssize_t end)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (end < length)
        end++;
    else if (begin > 0)
        begin--;
    PyObject *before = PyUnicode_Substring(text, 0, begin), *behind = PyUnicode_Substring(text, end, length);
    PyObject *rest = before != NULL && behind != NULL ? PyUnicode_Concat(before, behind) : NULL;
    Py_XDECREF(before);
    Py_XDECREF(behind);
    return rest;
}

static PyObject *with_pair(PyObject *text, PyObject *pair)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (length == 0)
        return Py_NewRef(pair);
    if (PyUnicode_READ_CHAR(text, length - 1) == PAIR_END)
        return PyUnicode_Concat(text, pair);
    return PyUnicode_FromFormat("%U\x02%U", text, pair);
}

/* settle_text(text, pair) -> (text to store, whether the sender waits) or None if the text is not plain */
PyObject *native_settle_text(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (check_count(count, 2, "settle_text") < 0)
        return NULL;
    if (!PyUnicode_Check(args[0]) || !PyUnicode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "settle_text takes two texts");
        return NULL;
    }
    Chars chars = chars_of(args[0]);
    Py_ssize_t wait_begin = -1, wait_end = 0;
    int waits = 1;
    for (Py_ssize_t at = 0; at < chars.length;) {
        Py_ssize_t stop = pair_end(&chars, at), value;
        Py_UCS4 begins = PyUnicode_READ(chars.kind, chars.data, at);
        if (begins == 'W' && (value = value_begin(&chars, at, stop, "WAIT")) >= 0) {
            if (wait_begin >= 0)
                Py_RETURN_NONE; /* more than one: Python's turn */
            wait_begin = at;
            wait_end = stop;
            waits = value == stop || equals_true(&chars, value, stop);
        } else if ((begins == 'D' && value_begin(&chars, at, stop, "DELAY") >= 0) ||
                   (begins == 'T' && value_begin(&chars, at, stop, "TRAN_MSG") >= 0) ||
                   (begins == 'C' && value_begin(&chars, at, stop, "CLUSTER") >= 0)) {
            Py_RETURN_NONE;
        }
        at = stop + 1;
    }
    PyObject *rest = wait_begin < 0 ? Py_NewRef(args[0]) : without(args[0], wait_begin, wait_end);
    if (rest == NULL)
        return NULL;
    PyObject *settled = with_pair(rest, args[1]);
    Py_DECREF(rest);
    if (settled == NULL)
        return NULL;
    return Py_BuildValue("NO", settled, waits ? Py_True : Py_False);
}
