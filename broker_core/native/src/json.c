/* JSON as msgspec writes it, into memory that grows; and whether bytes are one JSON value (RFC 8259). */
#include "native.h"

#define DEEPEST 64

/* -- writing -------------------------------------------------------------------------------------------------------- */

uint8_t *grow(Growing *out, Py_ssize_t size)
{
    if (out->room - out->size < size) {
        Py_ssize_t room = 2 * out->room + size + 4096;
        uint8_t *bytes = PyMem_Realloc(out->bytes, (size_t)room);
        if (bytes == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        out->bytes = bytes;
        out->room = room;
    }
    return out->bytes + out->size;
}

int add_span(Growing *out, Span span)
{
    uint8_t *at = grow(out, span.size);
    if (at == NULL)
        return -1;
    memcpy(at, span.bytes, (size_t)span.size);
    out->size += span.size;
    return 0;
}

int add_text(Growing *out, const char *text)
{
    return add_span(out, (Span){(const uint8_t *)text, (Py_ssize_t)strlen(text)});
}

int add_number(Growing *out, int64_t number)
{
    char text[24];
    PyOS_snprintf(text, sizeof text, "%lld", (long long)number);
    return add_text(out, text);
}

/* How a byte is escaped: 0 not at all, 'u' by its number, else by this letter. */
static uint8_t escape_of(uint8_t byte)
{
    switch (byte) {
    case '"':
    case '\\':
        return byte;
    case '\b':
        return 'b';
    case '\t':
        return 't';
    case '\n':
        return 'n';
    case '\f':
        return 'f';
    case '\r':
        return 'r';
    default:
        return byte < 0x20 ? 'u' : 0;
    }
}

/* Add UTF-8 as a JSON string. */
int add_string(Growing *out, Span text)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t *begin = grow(out, 6 * text.size + 2), *at = begin;
    if (begin == NULL)
        return -1;
    *at++ = '"';
    for (Py_ssize_t i = 0; i < text.size; i++) {
        uint8_t byte = text.bytes[i], escape = escape_of(byte);
        if (escape != 0)
            *at++ = '\\';
        if (escape == 'u') {
            memcpy(at, "u00", 3);
            at[3] = digits[byte >> 4];
            at[4] = digits[byte & 15];
            at += 5;
        } else {
            *at++ = escape != 0 ? escape : byte;
        }
    }
    *at++ = '"';
    out->size += at - begin;
    return 0;
}

static const char STANDARD[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char FOR_URLS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Add Base64 (RFC 4648): padded, or in the alphabet for URLs without padding. */
int add_base64(Growing *out, Span data, int for_urls)
{
    const char *letters = for_urls ? FOR_URLS : STANDARD;
    uint8_t *begin = grow(out, (data.size + 2) / 3 * 4), *at = begin;
    if (begin == NULL)
        return -1;
    const uint8_t *from = data.bytes;
    Py_ssize_t left = data.size;
    for (; left >= 3; left -= 3, from += 3) {
        uint32_t three = (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];
        *at++ = letters[three >> 18];
        *at++ = letters[three >> 12 & 63];
        *at++ = letters[three >> 6 & 63];
        *at++ = letters[three & 63];
    }
    if (left > 0) {
        uint32_t rest = (uint32_t)from[0] << 16 | (left > 1 ? (uint32_t)from[1] << 8 : 0);
        *at++ = letters[rest >> 18];
        *at++ = letters[rest >> 12 & 63];
        if (left > 1)
            *at++ = letters[rest >> 6 & 63];
        if (!for_urls) {
            memset(at, '=', (size_t)(3 - left));
            at += 3 - left;
        }
    }
    out->size += at - begin;
    return 0;
}

/* -- checking ------------------------------------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *at, *end;
} Reader;

static void skip_blank(Reader *reader)
{
    while (reader->at < reader->end && memchr(" \t\n\r", *reader->at, 4) != NULL)
        reader->at++;
}

static int skips(Reader *reader, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(reader->end - reader->at) < size || memcmp(reader->at, word, size) != 0)
        return 0;
    reader->at += size;
    return 1;
}

static int is_digit(const Reader *reader)
{
    return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';
}

static int skips_digits(Reader *reader)
{
    if (!is_digit(reader))
        return 0;
    while (is_digit(reader))
        reader->at++;
    return 1;
}

static int skips_number(Reader *reader)
{
    skips(reader, "-");
    if (!skips(reader, "0") && !skips_digits(reader))
        return 0;
    if (skips(reader, ".") && !skips_digits(reader))
        return 0;
    if (!skips(reader, "e") && !skips(reader, "E"))
        return 1;
    if (!skips(reader, "+"))
        skips(reader, "-");
    return skips_digits(reader);
}

/* Behind the opening quote. A character by its number is left to Python: half of a pair alone may not be a string. */
static int skips_string(Reader *reader)
{
    while (reader->at < reader->end) {
        uint8_t byte = *reader->at++;
        if (byte == '"')
            return 1;
        if (byte < 0x20)
            return 0;
        if (byte == '\\' && (reader->at == reader->end || memchr("\"\\/bfnrt", *reader->at++, 8) == NULL))
            return 0;
    }
    return 0;
}

static int skips_value(Reader *reader, int depth);

static int skips_members(Reader *reader, int is_object, int depth)
{
    const char *close = is_object ? "}" : "]";
    skip_blank(reader);
    if (skips(reader, close))
        return 1;
    do {
        skip_blank(reader);
        if (is_object) {
            if (!skips(reader, "\"") || !skips_string(reader))
                return 0;
            skip_blank(reader);
            if (!skips(reader, ":"))
                return 0;
        }
        if (!skips_value(reader, depth + 1))
            return 0;
    } while (skips(reader, ","));
    return skips(reader, close);
}

static int skips_value(Reader *reader, int depth)
{
    skip_blank(reader);
    int is_sound = depth <= DEEPEST && (skips(reader, "{")    ? skips_members(reader, 1, depth)
                                        : skips(reader, "[")  ? skips_members(reader, 0, depth)
                                        : skips(reader, "\"") ? skips_string(reader)
                                                              : skips(reader, "true") || skips(reader, "false") ||
                                                                    skips(reader, "null") || skips_number(reader));
    skip_blank(reader);
    return is_sound;
}

int is_plain_json(Span text)
{
    Reader reader = {text.bytes, text.bytes + text.size};
    return skips_value(&reader, 0) && reader.at == reader.end;
}
