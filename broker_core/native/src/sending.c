/* What a client sends: the twins of `format_properties` in protocol/properties.py, and of `encode_entries` and
 * `encode_plain` in protocol/batch.py. */
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

#define KEYS_NAME "KEYS\x01"
#define TAGS_NAME "TAGS\x01"
#define UNIQUE_NAME "UNIQ_KEY\x01"

/* What `encode_plain` was given; one item of each list makes an entry. */
typedef struct {
    PyObject *bodies, *keys, *tags, *ids;
    Span common;
    Py_ssize_t many;
    int64_t most_keys, most_characters, most_body;
} Plain;

/* Measure a word of printable ASCII; return 0 for any other. */
static int word_of(PyObject *word, uint8_t lowest, Span *span)
{
    if (!PyUnicode_CheckExact(word) || !PyUnicode_IS_ASCII(word))
        return 0;
    *span = (Span){PyUnicode_1BYTE_DATA(word), PyUnicode_GET_LENGTH(word)};
    for (Py_ssize_t i = 0; i < span->size; i++)
        if (span->bytes[i] < lowest || span->bytes[i] > '~')
            return 0;
    return span->size > 0;
}

static int tag_of(PyObject *tag, Py_ssize_t most, Span *span)
{
    if (!word_of(tag, ' ', span) || span->size > most || memchr(span->bytes, '|', (size_t)span->size) != NULL)
        return 0;
    return span->bytes[0] != ' ' && span->bytes[span->size - 1] != ' ' && (span->size > 1 || span->bytes[0] != '*');
}

/* Return the bytes of all keys with a space between two, 0 for none, -1 for what is not plain. */
static Py_ssize_t keys_size(const Plain *plain, PyObject *keys)
{
    if (!PyList_CheckExact(keys) || PyList_GET_SIZE(keys) > plain->most_keys)
        return -1;
    Py_ssize_t size = 0;
    Span span;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys); i++) {
        if (!word_of(PyList_GET_ITEM(keys, i), '!', &span))
            return -1;
        size += span.size + (i > 0);
    }
    return size <= plain->most_characters ? size : -1;
}

/* Return the bytes of an entry's text, -1 for what is not plain. */
static Py_ssize_t text_size(const Plain *plain, Py_ssize_t i)
{
    PyObject *tag = PyList_GET_ITEM(plain->tags, i);
    Py_ssize_t keys = keys_size(plain, PyList_GET_ITEM(plain->keys, i));
    Span span;
    if (keys < 0 || !word_of(PyList_GET_ITEM(plain->ids, i), '!', &span))
        return -1;
    Py_ssize_t size = (Py_ssize_t)strlen(UNIQUE_NAME) + span.size;
    if (keys > 0)
        size += (Py_ssize_t)strlen(KEYS_NAME) + keys + 1;
    if (tag != Py_None) {
        if (!tag_of(tag, plain->most_characters, &span))
            return -1;
        size += (Py_ssize_t)strlen(TAGS_NAME) + span.size + 1;
    }
    if (plain->common.size > 0)
        size += plain->common.size + 1;
    return size <= LONGEST_PROPERTIES ? size : -1;
}

static uint8_t *put_name(uint8_t *at, const char *name)
{
    return put_span(at, (Span){(const uint8_t *)name, (Py_ssize_t)strlen(name)});
}

static uint8_t *put_text(const Plain *plain, Py_ssize_t i, uint8_t *at)
{
    PyObject *keys = PyList_GET_ITEM(plain->keys, i), *tag = PyList_GET_ITEM(plain->tags, i);
    Span span;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(keys); k++) {
        text_span(PyList_GET_ITEM(keys, k), &span);
        if (k == 0)
            at = put_name(at, KEYS_NAME);
        at = put_span(at, span);
        *at++ = k + 1 < PyList_GET_SIZE(keys) ? ' ' : PAIR_END;
    }
    if (tag != Py_None) {
        text_span(tag, &span);
        at = put_span(put_name(at, TAGS_NAME), span);
        *at++ = PAIR_END;
    }
    if (plain->common.size > 0) {
        at = put_span(at, plain->common);
        *at++ = PAIR_END;
    }
    text_span(PyList_GET_ITEM(plain->ids, i), &span);
    return put_span(put_name(at, UNIQUE_NAME), span);
}

static int is_ascii(const uint8_t *bytes, Py_ssize_t size)
{
    uint64_t all = 0, eight;
    Py_ssize_t i = 0;
    for (; i + 8 <= size; i += 8) {
        memcpy(&eight, bytes + i, 8);
        all |= eight;
    }
    for (; i < size; i++)
        all |= (uint64_t)bytes[i];
    return (all & 0x8080808080808080u) == 0;
}

/* Take hold of the bodies, and return the bytes of the whole batch, -1 for what is not plain; `held` counts them. */
static Py_ssize_t hold_bodies(const Plain *plain, Py_buffer *bodies, Py_ssize_t *held)
{
    Py_ssize_t size = 0;
    for (Py_ssize_t i = 0; i < plain->many; i++) {
        if (PyObject_GetBuffer(PyList_GET_ITEM(plain->bodies, i), &bodies[i], PyBUF_SIMPLE) < 0) {
            PyErr_Clear();
            return -1;
        }
        *held = i + 1;
        Py_ssize_t text = text_size(plain, i);
        if (text < 0 || bodies[i].len > plain->most_body || !is_ascii(bodies[i].buf, bodies[i].len))
            return -1;
        size += ENTRY_FIXED + bodies[i].len + text;
    }
    return size;
}

static PyObject *batch_of(const Plain *plain, const Py_buffer *bodies, Py_ssize_t size)
{
    PyObject *batch = PyBytes_FromStringAndSize(NULL, size);
    if (batch == NULL)
        return NULL;
    uint8_t *at = (uint8_t *)PyBytes_AS_STRING(batch);
    for (Py_ssize_t i = 0; i < plain->many; i++) {
        uint8_t *text = at + 20 + bodies[i].len + 2, *end = put_text(plain, i, text);
        put32(at, (uint32_t)(end - at));
        memset(at + 4, 0, 12); /* magic and CRC, which readers ignore, and no flags */
        put32(at + 16, (uint32_t)bodies[i].len);
        memcpy(at + 20, bodies[i].buf, (size_t)bodies[i].len);
        put16(text - 2, (uint16_t)(end - text));
        at = end;
    }
    return batch;
}

static int read_plain(PyObject *const *args, Plain *plain)
{
    *plain = (Plain){.bodies = args[0], .keys = args[1], .tags = args[2], .ids = args[3]};
    for (int i = 0; i < 4; i++) {
        if (!PyList_CheckExact(args[i]) || PyList_GET_SIZE(args[i]) != PyList_GET_SIZE(args[0]))
            return 0;
    }
    plain->many = PyList_GET_SIZE(args[0]);
    int is_read = text_span(args[4], &plain->common) >= 0 && as_int64(args[5], &plain->most_keys) >= 0 &&
                  as_int64(args[6], &plain->most_characters) >= 0 && as_int64(args[7], &plain->most_body) >= 0;
    PyErr_Clear();
    return is_read && plain->most_body <= INT32_MAX - ENTRY_FIXED - LONGEST_PROPERTIES;
}

/* encode_plain(bodies, keys, tags, ids, common, most_keys, most_characters, most_body) -> the body of a batch, or None
 * if Python must look at it */
PyObject *native_encode_plain(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Plain plain;
    if (check_count(count, 8, "encode_plain") < 0)
        return NULL;
    if (!read_plain(args, &plain))
        Py_RETURN_NONE;
    Py_buffer *bodies = PyMem_Calloc((size_t)plain.many + 1, sizeof(Py_buffer));
    if (bodies == NULL)
        return PyErr_NoMemory();
    Py_ssize_t held = 0, size = hold_bodies(&plain, bodies, &held);
    PyObject *batch = size < 0 ? Py_NewRef(Py_None) : batch_of(&plain, bodies, size);
    while (held > 0)
        PyBuffer_Release(&bodies[--held]);
    PyMem_Free(bodies);
    return batch;
}
