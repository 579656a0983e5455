/* Messages of a pull or pop answer; the twin of protocol/record.py's decode_many, for records in which nothing is
 * unusual. */
#include "native.h"

#define MAGIC_V1 0xDAA320A7u
#define COMPRESSED 0x1u
#define HOSTS 0x30u
#define BODY_AT 88
#define SMALLEST 91
#define LONGEST_HOST 27

/* Find the parts of the record at `at`; return 0 for what is odd. */
int find_parts(const uint8_t *at, Py_ssize_t left, MessageParts *parts)
{
    if (left < SMALLEST)
        return 0;
    int32_t size = (int32_t)get32(at), body = (int32_t)get32(at + BODY_AT - 4);
    if (size < SMALLEST || size > left || get32(at + 4) != MAGIC_V1 || get32(at + 36) & (HOSTS | COMPRESSED) ||
        body < 0 || body > size - SMALLEST)
        return 0;
    const uint8_t *topic = at + BODY_AT + body;
    int32_t behind = size - BODY_AT - body, length = (int8_t)*topic;
    if (length < 0 || length > behind - 3)
        return 0;
    int32_t properties = (int16_t)get16(topic + 1 + length);
    if (properties != behind - 3 - length)
        return 0;
    *parts = (MessageParts){at, (uint32_t)size, {at + BODY_AT, body}, {topic + 1, length}, {topic + 3 + length, properties}};
    return 1;
}

static PyObject *text_of(const uint8_t *bytes, Py_ssize_t size)
{
    return PyUnicode_DecodeUTF8((const char *)bytes, size, NULL);
}

static int add_pair(PyObject *pairs, const uint8_t *begin, const uint8_t *end)
{
    const uint8_t *between = memchr(begin, NAME_END, (size_t)(end - begin));
    if (between == NULL || between == begin || between + 1 == end)
        return 0;
    PyObject *name = text_of(begin, between - begin), *value = text_of(between + 1, end - between - 1);
    if (name != NULL)
        PyUnicode_InternInPlace(&name);
    int failed = name == NULL || value == NULL || PyDict_SetItem(pairs, name, value) < 0;
    Py_XDECREF(name);
    Py_XDECREF(value);
    return failed ? -1 : 0;
}

static PyObject *pairs_of(Span text)
{
    PyObject *pairs = PyDict_New();
    const uint8_t *at = text.bytes, *end = at + text.size;
    while (pairs != NULL && at < end) {
        const uint8_t *found = memchr(at, PAIR_END, (size_t)(end - at));
        const uint8_t *pair_end = found == NULL ? end : found;
        if (add_pair(pairs, at, pair_end) < 0)
            Py_CLEAR(pairs);
        at = pair_end + 1;
    }
    return pairs;
}

static PyObject *host_of(const uint8_t *at)
{
    char text[LONGEST_HOST];
    int size = PyOS_snprintf(text, sizeof text, "%u.%u.%u.%u:%u", at[0], at[1], at[2], at[3], get32(at + 4));
    return PyUnicode_FromStringAndSize(text, size);
}

/* Make a StoredMessage, which is `kind`, of its fields in their order. */
static PyObject *message_of(PyObject *kind, const MessageParts *parts)
{
    const uint8_t *at = parts->record;
    PyObject *fields[] = {
        text_of(parts->topic.bytes, parts->topic.size),
        PyLong_FromLong((int32_t)get32(at + 12)),
        PyLong_FromLongLong((int64_t)get64(at + 20)),
        PyLong_FromLongLong((int64_t)get64(at + 28)),
        PyBytes_FromStringAndSize((const char *)parts->body.bytes, parts->body.size),
        pairs_of(parts->properties),
        PyLong_FromLong((int32_t)get32(at + 16)),
        PyLong_FromLong((int32_t)get32(at + 36)),
        PyLong_FromLongLong((int64_t)get64(at + 40)),
        host_of(at + 48),
        PyLong_FromLongLong((int64_t)get64(at + 56)),
        host_of(at + 64),
        PyLong_FromLong((int32_t)get32(at + 72)),
        PyLong_FromLongLong((int64_t)get64(at + 76)),
        PyLong_FromLong((int32_t)get32(at + 8)),
        PyLong_FromUnsignedLong(parts->size),
    };
    const size_t count = sizeof fields / sizeof *fields;
    int all = 1;
    for (size_t i = 0; i < count; i++)
        all &= fields[i] != NULL;
    PyObject *message = all ? PyObject_Vectorcall(kind, fields, count, NULL) : NULL;
    for (size_t i = 0; i < count; i++)
        Py_XDECREF(fields[i]);
    return message;
}

static int add_message(PyObject *kind, const MessageParts *parts, PyObject *messages)
{
    PyObject *message = message_of(kind, parts);
    int failed = message == NULL || PyList_Append(messages, message) < 0;
    Py_XDECREF(message);
    return failed ? -1 : 0;
}

/* decode_messages(kind, buffer, position, messages) -> where the first record begins that is odd; messages is added to */
PyObject *native_decode_messages(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int64_t position;
    if (check_count(count, 4, "decode_messages") < 0 || as_int64(args[2], &position) < 0)
        return NULL;
    if (!PyList_Check(args[3])) {
        PyErr_SetString(PyExc_TypeError, "decode_messages adds to a list");
        return NULL;
    }
    Py_buffer buffer;
    if (PyObject_GetBuffer(args[1], &buffer, PyBUF_SIMPLE) < 0)
        return NULL;
    MessageParts parts;
    int failed = 0;
    while (!failed && position >= 0 && position < buffer.len &&
           find_parts((const uint8_t *)buffer.buf + position, buffer.len - position, &parts)) {
        failed = add_message(args[0], &parts, args[3]) < 0;
        if (failed && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
            PyErr_Clear(); /* Python replaces what is no UTF-8 */
            break;
        }
        position += failed ? 0 : parts.size;
    }
    PyBuffer_Release(&buffer);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(position);
}
