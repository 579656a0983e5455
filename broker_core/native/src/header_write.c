/* The twin of `frame_head` in protocol/header_json.py: a frame up to its body, with a header in JSON. */
#include "native.h"

#define STACK 2048
#define PREFIX 8
#define LONGEST_ESCAPE 6

typedef struct {
    uint8_t stack[STACK];
    uint8_t *bytes;
    size_t size, room;
} Out;

static uint8_t *make_room(Out *out, size_t more)
{
    if (out->room - out->size >= more)
        return out->bytes + out->size;
    size_t room = (out->size + more) * 2;
    uint8_t *bytes = PyMem_Malloc(room);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    memcpy(bytes, out->bytes, out->size);
    if (out->bytes != out->stack)
        PyMem_Free(out->bytes);
    out->bytes = bytes;
    out->room = room;
    return bytes + out->size;
}

static int put_bytes(Out *out, const char *bytes, size_t size)
{
    uint8_t *at = make_room(out, size);
    if (at == NULL)
        return -1;
    memcpy(at, bytes, size);
    out->size += size;
    return 0;
}

#define PUT(out, literal) put_bytes(out, literal, sizeof(literal) - 1)

static int put_number(Out *out, PyObject *number)
{
    int64_t value;
    if (as_int64(number, &value) < 0)
        return -1;
    char digits[24], *at = digits + sizeof digits;
    uint64_t left = value < 0 ? 0u - (uint64_t)value : (uint64_t)value;
    do
        *--at = (char)('0' + left % 10);
    while ((left /= 10) != 0);
    if (value < 0)
        *--at = '-';
    return put_bytes(out, at, (size_t)(digits + sizeof digits - at));
}

static size_t escape(uint8_t byte, uint8_t *at)
{
    static const char letters[] = "btn.fr", hex[] = "0123456789abcdef";
    at[0] = '\\';
    if (byte == '"' || byte == '\\') {
        at[1] = byte;
        return 2;
    }
    if (byte >= 8 && byte <= 13 && byte != 11) {
        at[1] = (uint8_t)letters[byte - 8];
        return 2;
    }
    memcpy(at + 1, "u00", 3);
    at[4] = (uint8_t)hex[byte >> 4];
    at[5] = (uint8_t)hex[byte & 15];
    return 6;
}

static int put_string(Out *out, PyObject *text)
{
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (bytes == NULL)
        return -1;
    uint8_t *begin = make_room(out, (size_t)size * LONGEST_ESCAPE + 2), *at = begin;
    if (at == NULL)
        return -1;
    *at++ = '"';
    for (Py_ssize_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)bytes[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            *at++ = byte;
        else
            at += escape(byte, at);
    }
    *at++ = '"';
    out->size += (size_t)(at - begin);
    return 0;
}

static int put_fields(Out *out, PyObject *fields)
{
    PyObject *name, *value;
    Py_ssize_t position = 0;
    int is_first = 1;
    if (PUT(out, "{") < 0)
        return -1;
    while (PyDict_Next(fields, &position, &name, &value)) {
        if (!is_first && PUT(out, ",") < 0)
            return -1;
        is_first = 0;
        if (put_string(out, name) < 0 || PUT(out, ":") < 0 || put_string(out, value) < 0)
            return -1;
    }
    return PUT(out, "}");
}

static int put_header(Out *out, PyObject *const *args)
{
    PyObject *code = args[0], *fields = args[1], *opaque = args[2], *flag = args[3], *remark = args[4];
    PyObject *language = args[5], *version = args[6];
    if (PUT(out, "{\"code\":") < 0 || put_number(out, code) < 0)
        return -1;
    if (PUT(out, ",\"extFields\":") < 0 || put_fields(out, fields) < 0)
        return -1;
    if (PUT(out, ",\"flag\":") < 0 || put_number(out, flag) < 0)
        return -1;
    if (PUT(out, ",\"language\":") < 0 || put_string(out, language) < 0)
        return -1;
    if (PUT(out, ",\"opaque\":") < 0 || put_number(out, opaque) < 0)
        return -1;
    if (remark != Py_None && (PUT(out, ",\"remark\":") < 0 || put_string(out, remark) < 0))
        return -1;
    if (PUT(out, ",\"serializeTypeCurrentRPC\":\"JSON\",\"version\":") < 0 || put_number(out, version) < 0)
        return -1;
    return PUT(out, "}");
}

/* encode_frame_head(code, fields, opaque, flag, remark, language, version, body_length) -> bytes */
PyObject *native_encode_frame_head(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (check_count(count, 8, "encode_frame_head") < 0)
        return NULL;
    int64_t body_length;
    if (as_int64(args[7], &body_length) < 0)
        return NULL;
    if (!PyDict_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "encode_frame_head takes a dict of fields");
        return NULL;
    }
    Out out;
    out.bytes = out.stack;
    out.size = PREFIX;
    out.room = STACK;
    PyObject *head = NULL;
    if (put_header(&out, args) == 0) {
        uint64_t length = out.size - 4 + (uint64_t)body_length;
        if (body_length < 0 || length > UINT32_MAX || out.size - PREFIX > 0xFFFFFF) {
            PyErr_SetString(PyExc_OverflowError, "the header or the body is too long for a frame");
        } else {
            put32(out.bytes, (uint32_t)length);
            put32(out.bytes + 4, (uint32_t)(out.size - PREFIX));
            head = PyBytes_FromStringAndSize((const char *)out.bytes, (Py_ssize_t)out.size);
        }
    }
    if (out.bytes != out.stack)
        PyMem_Free(out.bytes);
    return head;
}
