/* The twin of `_decode` in protocol/header_json.py: it reads what every client writes, and leaves all else to
 * Python by returning None. */
#include "native.h"

#define NAMES 256
#define LONGEST_NAME 24
#define SCRATCH 1024

typedef struct {
    const uint8_t *at;
    const uint8_t *end;
} Text;

enum { UNUSUAL, FINE, FAILED };

/* Bytes at which a string is more than bytes to be copied, or over. */
static uint8_t ends_run[256];

static void __attribute__((constructor)) fill_ends(void)
{
    memset(ends_run, 1, 0x20);
    ends_run['"'] = ends_run['\\'] = 1;
}

/* Names of fields come again and again: one object for each. */
static PyObject *names[NAMES];

static int is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static void skip_space(Text *text)
{
    while (text->at < text->end && is_space(*text->at))
        text->at++;
}

static int take(Text *text, uint8_t wanted)
{
    skip_space(text);
    if (text->at == text->end || *text->at != wanted)
        return 0;
    text->at++;
    return 1;
}

static int hex_digit(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Put the UTF-8 form of what the escape at `at` (behind the backslash) stands for to `out`; return the bytes read, 0
 * for what is better left to Python. No escape is longer than the text it was made from. */
static int unescape(const uint8_t *at, const uint8_t *end, uint8_t **out)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (at == end)
        return 0;
    if (*at != 'u') {
        const char *found = *at ? strchr(letters, *at) : NULL;
        if (found == NULL)
            return 0;
        *(*out)++ = (uint8_t)meant[found - letters];
        return 1;
    }
    if (end - at < 5)
        return 0;
    uint32_t unit = 0;
    for (int i = 1; i < 5; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return 0;
        unit = unit << 4 | (uint32_t)digit;
    }
    if (unit >= 0xD800 && unit < 0xE000)
        return 0;
    if (unit < 0x80) {
        *(*out)++ = (uint8_t)unit;
    } else if (unit < 0x800) {
        *(*out)++ = (uint8_t)(0xC0 | unit >> 6);
        *(*out)++ = (uint8_t)(0x80 | (unit & 0x3F));
    } else {
        *(*out)++ = (uint8_t)(0xE0 | unit >> 12);
        *(*out)++ = (uint8_t)(0x80 | (unit >> 6 & 0x3F));
        *(*out)++ = (uint8_t)(0x80 | (unit & 0x3F));
    }
    return 5;
}

static PyObject *text_of(const uint8_t *bytes, Py_ssize_t size)
{
    PyObject *text = PyUnicode_DecodeUTF8((const char *)bytes, size, NULL);
    if (text == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
        PyErr_Clear(); /* Python's turn */
    return text;
}

int unescape_json(Span raw, uint8_t *out, Py_ssize_t *size)
{
    const uint8_t *at = raw.bytes, *end = at + raw.size;
    uint8_t *begin = out;
    while (at < end) {
        const uint8_t *run = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((run == NULL ? end : run) - at);
        memcpy(out, at, plain);
        out += plain;
        at += plain;
        if (run == NULL)
            break;
        int read = unescape(at + 1, end, &out);
        if (read == 0)
            return 0;
        at += 1 + read;
    }
    *size = out - begin;
    return 1;
}

static PyObject *unescaped(const uint8_t *begin, const uint8_t *end)
{
    uint8_t stack[SCRATCH];
    uint8_t *scratch = end - begin <= SCRATCH ? stack : PyMem_Malloc((size_t)(end - begin));
    if (scratch == NULL)
        return PyErr_NoMemory();
    Py_ssize_t size;
    PyObject *text = unescape_json((Span){begin, end - begin}, scratch, &size) ? text_of(scratch, size) : NULL;
    if (scratch != stack)
        PyMem_Free(scratch);
    return text;
}

static PyObject *name_of(const uint8_t *bytes, Py_ssize_t size)
{
    unsigned slot = (unsigned)(size * 31 + bytes[0] * 7 + bytes[size - 1]) % NAMES;
    PyObject *known = names[slot];
    if (known != NULL && PyUnicode_GET_LENGTH(known) == size && memcmp(PyUnicode_1BYTE_DATA(known), bytes, (size_t)size) == 0)
        return Py_NewRef(known);
    PyObject *text = text_of(bytes, size);
    if (text != NULL && PyUnicode_IS_ASCII(text)) {
        /* Only the first of each slot: what is interned may stay for the life of the process. */
        if (known == NULL)
            PyUnicode_InternInPlace(&text);
        Py_XSETREF(names[slot], Py_NewRef(text));
    }
    return text;
}

const uint8_t *json_string_end(const uint8_t *at, const uint8_t *end, int *has_escapes)
{
    *has_escapes = 0;
    while (at < end && !ends_run[*at])
        at++;
    while (at < end && *at != '"') {
        if (*at < 0x20)
            return NULL;
        *has_escapes = *at == '\\' ? 1 : *has_escapes;
        at += *at == '\\' ? 2 : 1;
    }
    return at < end ? at : NULL;
}

/* Read a string; return NULL without an exception for an unusual one. */
static PyObject *read_string(Text *text, int is_name)
{
    if (!take(text, '"'))
        return NULL;
    int has_escapes;
    const uint8_t *begin = text->at, *at = json_string_end(begin, text->end, &has_escapes);
    if (at == NULL)
        return NULL;
    text->at = at + 1;
    if (has_escapes)
        return unescaped(begin, at);
    return is_name && at - begin > 0 && at - begin <= LONGEST_NAME ? name_of(begin, at - begin)
                                                                   : text_of(begin, at - begin);
}

/* Read an integer of 32 bits in its only form: no sign but a minus, no leading zeros, nothing behind it. */
static int read_int(Text *text, long *number)
{
    skip_space(text);
    int is_negative = text->at < text->end && *text->at == '-';
    text->at += is_negative;
    const uint8_t *begin = text->at;
    int64_t value = 0;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9' && text->at - begin < 11)
        value = value * 10 + (*text->at++ - '0');
    Py_ssize_t digits = text->at - begin;
    if (digits == 0 || digits > 10 || (digits > 1 && *begin == '0') || text->at == text->end)
        return UNUSUAL;
    if (!is_space(*text->at) && *text->at != ',' && *text->at != '}')
        return UNUSUAL;
    value = is_negative ? -value : value;
    if (value < INT32_MIN || value > INT32_MAX || (is_negative && value == 0))
        return UNUSUAL;
    *number = (long)value;
    return FINE;
}

static PyObject *read_fields(Text *text)
{
    if (!take(text, '{'))
        return NULL;
    PyObject *fields = PyDict_New();
    if (fields == NULL || take(text, '}'))
        return fields;
    do {
        PyObject *name = read_string(text, 1);
        PyObject *value = name != NULL && take(text, ':') ? read_string(text, 0) : NULL;
        int is_set = value != NULL && PyDict_SetItem(fields, name, value) == 0;
        Py_XDECREF(name);
        Py_XDECREF(value);
        if (!is_set)
            goto unusual;
    } while (take(text, ','));
    if (take(text, '}'))
        return fields;
unusual:
    Py_DECREF(fields);
    return NULL;
}

typedef struct {
    PyObject *fields, *remark, *language;
    long code, opaque, flag, version;
    int seen;
} Parts;

enum { CODE = 1, OPAQUE = 2, FLAG = 4, VERSION = 8, FIELDS = 16, LANGUAGE = 32, ALL = 63 };

static int is(PyObject *name, const char *wanted)
{
    return PyUnicode_CompareWithASCIIString(name, wanted) == 0;
}

static int read_number(Text *text, Parts *parts, int part, long *number)
{
    parts->seen |= part;
    return read_int(text, number);
}

static int read_object(Text *text, Parts *parts, int part, PyObject **object, PyObject *value)
{
    parts->seen |= part;
    Py_XSETREF(*object, value);
    return value == NULL ? UNUSUAL : FINE;
}

static int read_remark(Text *text, Parts *parts)
{
    skip_space(text);
    if (text->end - text->at >= 4 && memcmp(text->at, "null", 4) == 0) {
        text->at += 4;
        Py_CLEAR(parts->remark);
        return FINE;
    }
    return read_object(text, parts, 0, &parts->remark, read_string(text, 0));
}

static int read_part(Text *text, Parts *parts, PyObject *languages, PyObject *name)
{
    if (is(name, "code"))
        return read_number(text, parts, CODE, &parts->code);
    if (is(name, "opaque"))
        return read_number(text, parts, OPAQUE, &parts->opaque);
    if (is(name, "flag"))
        return read_number(text, parts, FLAG, &parts->flag);
    if (is(name, "version"))
        return read_number(text, parts, VERSION, &parts->version);
    if (is(name, "extFields"))
        return read_object(text, parts, FIELDS, &parts->fields, read_fields(text));
    if (is(name, "remark"))
        return read_remark(text, parts);
    PyObject *value = read_string(text, 1);
    if (value == NULL)
        return UNUSUAL;
    int result = FINE;
    if (is(name, "language")) {
        PyObject *number = PyDict_GetItemWithError(languages, value);
        result = read_object(text, parts, LANGUAGE, &parts->language, Py_XNewRef(number));
    } else if (!is(name, "serializeTypeCurrentRPC")) {
        result = UNUSUAL;
    }
    Py_DECREF(value);
    return result;
}

static int read_parts(Text *text, Parts *parts, PyObject *languages)
{
    if (!take(text, '{'))
        return UNUSUAL;
    do {
        PyObject *name = read_string(text, 1);
        int result = name != NULL && take(text, ':') ? read_part(text, parts, languages, name) : UNUSUAL;
        Py_XDECREF(name);
        if (result != FINE)
            return UNUSUAL;
    } while (take(text, ','));
    if (!take(text, '}'))
        return UNUSUAL;
    skip_space(text);
    return text->at == text->end && parts->seen == ALL ? FINE : UNUSUAL;
}

/* decode_header(data, languages) -> (code, fields, opaque, flag, remark, language, version) or None */
PyObject *native_decode_header(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (check_count(count, 2, "decode_header") < 0)
        return NULL;
    if (!PyBytes_Check(args[0]) || !PyDict_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "decode_header takes bytes and a dict");
        return NULL;
    }
    Text text = {(const uint8_t *)PyBytes_AS_STRING(args[0]), NULL};
    text.end = text.at + PyBytes_GET_SIZE(args[0]);
    Parts parts = {0};
    PyObject *result = NULL;
    if (read_parts(&text, &parts, args[1]) == FINE)
        result = Py_BuildValue("lOllOOl", parts.code, parts.fields, parts.opaque, parts.flag,
                               parts.remark == NULL ? Py_None : parts.remark, parts.language, parts.version);
    else if (!PyErr_Occurred())
        result = Py_NewRef(Py_None);
    Py_XDECREF(parts.fields);
    Py_XDECREF(parts.remark);
    Py_XDECREF(parts.language);
    return result;
}
