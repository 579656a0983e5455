/* Property text, `name U+0001 value U+0002 name …`, in UTF-8: the twins of broker/sent_text.py, protocol/properties.py
 * and protocol/string_hash.py. */
#include "native.h"

#define SCRATCH 1024

int text_span(PyObject *text, Span *span)
{
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a text is a str");
        return -1;
    }
    span->bytes = (const uint8_t *)PyUnicode_AsUTF8AndSize(text, &span->size);
    return span->bytes == NULL ? -1 : 0;
}

Span next_pair(Span *rest)
{
    const uint8_t *found = memchr(rest->bytes, PAIR_END, (size_t)rest->size);
    Span pair = {rest->bytes, found == NULL ? rest->size : found - rest->bytes};
    Py_ssize_t gone = pair.size + (found != NULL);
    rest->bytes += gone;
    rest->size -= gone;
    return pair;
}

/* Say whether `pair` is called `name`; `value` is then what it says. */
static int is_called(Span pair, const char *name, Span *value)
{
    Py_ssize_t size = (Py_ssize_t)strlen(name);
    if (pair.size <= size || memcmp(pair.bytes, name, (size_t)size) != 0 || pair.bytes[size] != NAME_END)
        return 0;
    *value = (Span){pair.bytes + size + 1, pair.size - size - 1};
    return 1;
}

void read_marks(Span text, Marks *marks)
{
    *marks = (Marks){0};
    while (text.size > 0) {
        Span pair = next_pair(&text), value;
        uint8_t first = pair.size > 0 ? *pair.bytes : 0;
        Span *mark = first == 'T' && is_called(pair, "TAGS", &value)       ? &marks->tags
                     : first == 'K' && is_called(pair, "KEYS", &value)     ? &marks->keys
                     : first == 'U' && is_called(pair, "UNIQ_KEY", &value) ? &marks->unique
                                                                           : NULL;
        if (mark != NULL && value.size > 0)
            *mark = value;
    }
}

static int is_ascii(Span text)
{
    for (Py_ssize_t i = 0; i < text.size; i++)
        if (text.bytes[i] >= 0x80)
            return 0;
    return 1;
}

int check_utf8(Span text)
{
    if (is_ascii(text))
        return 1;
    PyObject *decoded = PyUnicode_DecodeUTF8((const char *)text.bytes, text.size, NULL);
    Py_XDECREF(decoded);
    return decoded != NULL;
}

/* Java's String.hashCode goes over UTF-16 units. */
static int hash_decoded(Span text, uint32_t *hash)
{
    PyObject *decoded = PyUnicode_DecodeUTF8((const char *)text.bytes, text.size, NULL);
    if (decoded == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(decoded); i++) {
        Py_UCS4 point = PyUnicode_READ_CHAR(decoded, i);
        if (point >= 0x10000) {
            point -= 0x10000;
            *hash = 31 * *hash + (0xD800 | point >> 10);
            point = 0xDC00 | (point & 0x3FF);
        }
        *hash = 31 * *hash + point;
    }
    Py_DECREF(decoded);
    return 0;
}

int hash_text(Span text, uint32_t *hash)
{
    if (!is_ascii(text))
        return hash_decoded(text, hash);
    uint32_t value = *hash;
    const uint8_t *at = text.bytes, *end = at + text.size;
    /* Four at a time: one multiplication waits for the one before, not four. */
    for (; end - at >= 4; at += 4)
        value = 31u * 31 * 31 * 31 * value + 31u * 31 * 31 * at[0] + 31u * 31 * at[1] + 31u * at[2] + at[3];
    for (; at < end; at++)
        value = 31 * value + *at;
    *hash = value;
    return 0;
}

/* -- the text of a send --------------------------------------------------------------------------------------------- */

static int says_true(Span value)
{
    static const char wanted[] = "true";
    if (value.size != 4)
        return 0;
    for (int i = 0; i < 4; i++)
        if ((value.bytes[i] | 0x20) != wanted[i])
            return 0;
    return 1;
}

/* Put `text` without the pair `gone`, with `pair` behind it, into `out`; return its size. */
static Py_ssize_t join(Span text, Span gone, Span pair, uint8_t *out)
{
    Py_ssize_t size = text.size;
    memcpy(out, text.bytes, (size_t)size);
    if (gone.bytes != NULL) {
        Py_ssize_t begin = gone.bytes - text.bytes, end = begin + gone.size;
        if (end < size)
            end++;
        else if (begin > 0)
            begin--;
        memmove(out + begin, out + end, (size_t)(size - end));
        size -= end - begin;
    }
    if (size > 0 && out[size - 1] != PAIR_END)
        out[size++] = PAIR_END;
    memcpy(out + size, pair.bytes, (size_t)pair.size);
    return size + pair.size;
}

static int begins_with(Span pair, const char *name)
{
    Py_ssize_t size = (Py_ssize_t)strlen(name);
    return pair.size >= size && memcmp(pair.bytes, name, (size_t)size) == 0;
}

static int asks_for_more(Span pair)
{
    Span value;
    switch (pair.size > 0 ? *pair.bytes : 0) {
    case 'D':
        return is_called(pair, "DELAY", &value);
    case 'T':
        return is_called(pair, "TRAN_MSG", &value) || begins_with(pair, "TIMER_");
    case 'P':
        return begins_with(pair, "POP_CK");
    case '1':
        return begins_with(pair, "1ST_POP_TIME");
    default:
        return 0;
    }
}

int text_asks_for_more(Span text)
{
    while (text.size > 0)
        if (asks_for_more(next_pair(&text)))
            return 1;
    return 0;
}

/* Put the text to be stored of `text` into `out`, which has room for both and one byte more; return 0 if it is not
 * plain. */
int settle(Span text, Span pair, uint8_t *out, Py_ssize_t *size, int *waits)
{
    Span gone = {NULL, 0};
    *waits = 1;
    for (Span rest = text; rest.size > 0;) {
        Span each = next_pair(&rest), value;
        uint8_t first = each.size > 0 ? *each.bytes : 0;
        if (first == 'W' && is_called(each, "WAIT", &value)) {
            if (gone.bytes != NULL)
                return 0; /* more than one */
            gone = each;
            *waits = value.size == 0 || says_true(value);
        } else if (asks_for_more(each) || (first == 'C' && is_called(each, "CLUSTER", &value))) {
            return 0;
        }
    }
    *size = join(text, gone, pair, out);
    return 1;
}

/* settle_text(text, pair) -> (text to store, whether the sender waits) or None if the text is not plain */
PyObject *native_settle_text(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Span text, pair;
    if (check_count(count, 2, "settle_text") < 0 || text_span(args[1], &pair) < 0)
        return NULL;
    if (text_span(args[0], &text) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            return NULL;
        PyErr_Clear();
        Py_RETURN_NONE; /* Python knows what to say */
    }
    uint8_t stack[SCRATCH];
    size_t room = (size_t)(text.size + pair.size) + 1;
    uint8_t *scratch = room <= SCRATCH ? stack : PyMem_Malloc(room);
    if (scratch == NULL)
        return PyErr_NoMemory();
    Py_ssize_t size;
    int waits, is_plain = settle(text, pair, scratch, &size, &waits);
    PyObject *settled = is_plain ? PyUnicode_DecodeUTF8((const char *)scratch, size, NULL) : NULL;
    if (scratch != stack)
        PyMem_Free(scratch);
    if (settled == NULL)
        return is_plain ? NULL : Py_NewRef(Py_None);
    return Py_BuildValue("NO", settled, waits ? Py_True : Py_False);
}
