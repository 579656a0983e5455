/* Leased messages as JSON, with their receipts; the twin of gateway/data/leased_json.py, for records in which nothing
 * is unusual. */
#include "native.h"

#define SEVERAL 24 /* properties of a message; one with more is left to Python */
#define LAST_MS 253402300799999

typedef struct {
    Span name, value;
} Pair;

typedef struct {
    Pair all[SEVERAL];
    int count;
} Pairs;

/* What the messages of one call share. */
typedef struct {
    SigningKey key;
    Span portion, topic, fixed, expires, first_delivered;
    int32_t queue_id;
    PyObject *hidden;
} Shared;

static int is_word(Span text, const char *word)
{
    return text.size == (Py_ssize_t)strlen(word) && memcmp(text.bytes, word, (size_t)text.size) == 0;
}

static int same(Span one, Span other)
{
    return one.size == other.size && memcmp(one.bytes, other.bytes, (size_t)one.size) == 0;
}

/* Return 0 for what Python must look at: a pair given twice, or many pairs. */
static int read_pairs(Span text, Pairs *pairs)
{
    const uint8_t *at = text.bytes, *end = at + text.size;
    pairs->count = 0;
    while (at < end) {
        const uint8_t *found = memchr(at, PAIR_END, (size_t)(end - at)), *pair_end = found == NULL ? end : found;
        const uint8_t *between = memchr(at, NAME_END, (size_t)(pair_end - at));
        if (between != NULL && between > at && between + 1 < pair_end) {
            Pair pair = {{at, between - at}, {between + 1, pair_end - between - 1}};
            for (int i = 0; i < pairs->count; i++)
                if (same(pairs->all[i].name, pair.name))
                    return 0;
            if (pairs->count == SEVERAL)
                return 0;
            pairs->all[pairs->count++] = pair;
        }
        at = pair_end + 1;
    }
    return 1;
}

static Span value_of(const Pairs *pairs, const char *name)
{
    for (int i = 0; i < pairs->count; i++)
        if (is_word(pairs->all[i].name, name))
            return pairs->all[i].value;
    return (Span){0};
}

static int is_hidden(const Shared *shared, Span name)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shared->hidden); i++) {
        PyObject *each = PyTuple_GET_ITEM(shared->hidden, i);
        if (same(name, (Span){(const uint8_t *)PyBytes_AS_STRING(each), PyBytes_GET_SIZE(each)}))
            return 1;
    }
    return 0;
}

static int add_or_null(Growing *out, Span text)
{
    return text.size == 0 ? add_text(out, "null") : add_string(out, text);
}

static int add_keys_list(Growing *out, Span keys)
{
    int failed = add_text(out, "[") < 0, several = 0;
    while (!failed && keys.size > 0) {
        const uint8_t *found = memchr(keys.bytes, ' ', (size_t)keys.size);
        Span key = {keys.bytes, found == NULL ? keys.size : found - keys.bytes};
        if (key.size > 0)
            failed = (several++ && add_text(out, ",") < 0) || add_string(out, key) < 0;
        Py_ssize_t gone = key.size + (found != NULL);
        keys = (Span){keys.bytes + gone, keys.size - gone};
    }
    return failed || add_text(out, "]") < 0 ? -1 : 0;
}

static int add_properties(Growing *out, const Shared *shared, const Pairs *pairs)
{
    int failed = add_text(out, "{") < 0, several = 0;
    for (int i = 0; !failed && i < pairs->count; i++)
        if (!is_hidden(shared, pairs->all[i].name))
            failed = (several++ && add_text(out, ",") < 0) || add_string(out, pairs->all[i].name) < 0 ||
                     add_text(out, ":") < 0 || add_string(out, pairs->all[i].value) < 0;
    return failed || add_text(out, "}") < 0 ? -1 : 0;
}

/* Add a moment as RFC 3339 in UTC; its calendar is that of Gregory throughout. */
static int add_moment(Growing *out, int64_t ms)
{
    int64_t seconds = ms / 1000, days = seconds / 86400, left = seconds % 86400;
    /* Years that begin in March, in eras of 400 years. */
    int64_t shifted = days + 719468, era = shifted / 146097, of_era = shifted % 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
    int64_t day = of_year - (153 * month + 2) / 5 + 1;
    month = month < 10 ? month + 3 : month - 9;
    year += 400 * era + (month <= 2);
    char text[40];
    PyOS_snprintf(text, sizeof text, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"", (int)year, (int)month, (int)day,
                  (int)(left / 3600), (int)(left / 60 % 60), (int)(left % 60), (int)(ms % 1000));
    return add_text(out, text);
}

/* Add a body as `present` in gateway/data/bodies.py shows it; return 1 for one that Python must look at. */
static int add_body(Growing *out, Span body, Span content_type)
{
    int looks_json = content_type.size > 0 ? is_word(content_type, "application/json")
                                           : body.size > 0 && (*body.bytes == '{' || *body.bytes == '[');
    int is_utf8 = check_utf8(body);
    if (!is_utf8)
        PyErr_Clear();
    if (looks_json && is_utf8) {
        if (!is_plain_json(body))
            return 1;
        return add_text(out, "{\"encoding\":\"json\",\"data\":") < 0 || add_span(out, body) < 0 ||
                       add_text(out, "}") < 0
                   ? -1
                   : 0;
    }
    if (is_utf8)
        return add_text(out, "{\"encoding\":\"text\",\"data\":") < 0 || add_string(out, body) < 0 ||
                       add_text(out, "}") < 0
                   ? -1
                   : 0;
    return add_text(out, "{\"encoding\":\"base64\",\"data\":\"") < 0 || add_base64(out, body, 0) < 0 ||
                   add_text(out, "\"}") < 0
               ? -1
               : 0;
}

/* Add the id of the client, or that of the place: host and position in the log. */
static int add_message_id(Growing *out, Span id)
{
    return add_text(out, "{\"message_id\":") < 0 || add_string(out, id) < 0 || add_text(out, ",") < 0 ? -1 : 0;
}

static Span id_of(const MessageParts *parts, const Pairs *pairs, uint8_t *place)
{
    static const char digits[] = "0123456789ABCDEF";
    Span unique = value_of(pairs, "UNIQ_KEY");
    if (unique.size > 0)
        return unique;
    for (int i = 0; i < 16; i++) {
        uint8_t byte = parts->record[i < 8 ? 64 + i : 28 + i - 8];
        place[2 * i] = digits[byte >> 4];
        place[2 * i + 1] = digits[byte & 15];
    }
    return (Span){place, 32};
}

static int add_message(Growing *out, const Shared *shared, const MessageParts *parts)
{
    const uint8_t *at = parts->record;
    int64_t offset = (int64_t)get64(at + 20), born = (int64_t)get64(at + 40), stored = (int64_t)get64(at + 56);
    Pairs pairs;
    uint8_t place[32];
    if (born < 0 || born > LAST_MS || stored < 0 || stored > LAST_MS || offset < 0 ||
        (int32_t)get32(at + 12) != shared->queue_id || get32(at + 72) != 0 || !same(parts->topic, shared->topic))
        return 1;
    if (!read_pairs(parts->properties, &pairs))
        return 1;
    if (!check_utf8(parts->properties)) {
        PyErr_Clear();
        return 1;
    }
    Span id = id_of(parts, &pairs, place), content_type = value_of(&pairs, "CONTENT_TYPE");
    if (id.size > LONGEST_ID)
        return 1;
    if (add_message_id(out, id) < 0 || add_span(out, shared->fixed) < 0 || add_text(out, ",\"offset\":") < 0 ||
        add_number(out, offset) < 0 || add_text(out, ",\"keys\":") < 0 ||
        add_keys_list(out, value_of(&pairs, "KEYS")) < 0 || add_text(out, ",\"tag\":") < 0 ||
        add_or_null(out, value_of(&pairs, "TAGS")) < 0 || add_text(out, ",\"ordering_key\":") < 0 ||
        add_or_null(out, value_of(&pairs, "__SHARDINGKEY")) < 0 || add_text(out, ",\"properties\":") < 0 ||
        add_properties(out, shared, &pairs) < 0 || add_text(out, ",\"content_type\":") < 0 ||
        add_or_null(out, content_type) < 0 || add_text(out, ",\"body\":") < 0)
        return -1;
    int odd = add_body(out, parts->body, content_type);
    if (odd != 0)
        return odd;
    return add_text(out, ",\"born_at\":") < 0 || add_moment(out, born) < 0 || add_text(out, ",\"stored_at\":") < 0 ||
                   add_moment(out, stored) < 0 || add_text(out, ",\"delivery_count\":1,\"first_delivered_at\":") < 0 ||
                   add_span(out, shared->first_delivered) < 0 ||
                   add_text(out, ",\"nack_reason\":null,\"receipt\":\"") < 0 ||
                   add_receipt(out, &shared->key, shared->portion, offset, 1, id) < 0 ||
                   add_text(out, "\",\"lease_expires_at\":") < 0 || add_span(out, shared->expires) < 0 ||
                   add_text(out, "}") < 0
               ? -1
               : 0;
}

static int read_shared(PyObject *const *args, Shared *shared)
{
    shared->hidden = args[8];
    if (read_signing_key(args[2], &shared->key) < 0 || text_span(args[3], &shared->portion) < 0 ||
        read_bytes(args[4], &shared->topic) < 0 || as_int32(args[5], &shared->queue_id) < 0 ||
        read_bytes(args[6], &shared->fixed) < 0 || read_bytes(args[7], &shared->expires) < 0 ||
        read_bytes(args[9], &shared->first_delivered) < 0)
        return -1;
    int are_bytes = PyTuple_Check(shared->hidden);
    for (Py_ssize_t i = 0; are_bytes && i < PyTuple_GET_SIZE(shared->hidden); i++)
        are_bytes = PyBytes_Check(PyTuple_GET_ITEM(shared->hidden, i));
    if (!are_bytes)
        PyErr_SetString(PyExc_TypeError, "the hidden names are a tuple of bytes");
    return are_bytes ? 0 : -1;
}

/* write_leased(buffer, position, key, portion, topic, queue_id, fixed, expires, hidden, first_delivered, offsets)
 * -> (JSON of the messages with commas between them, position behind them); None if Python must look at one */
PyObject *native_write_leased(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Shared shared;
    int64_t position, offset;
    if (check_count(count, 11, "write_leased") < 0 || as_int64(args[1], &position) < 0 ||
        read_shared(args, &shared) < 0)
        return NULL;
    if (!PyList_Check(args[10])) {
        PyErr_SetString(PyExc_TypeError, "offsets are a list");
        return NULL;
    }
    Py_buffer buffer;
    if (PyObject_GetBuffer(args[0], &buffer, PyBUF_SIMPLE) < 0)
        return NULL;
    Growing out = {0};
    int odd = 0;
    for (Py_ssize_t i = 0; odd == 0 && i < PyList_GET_SIZE(args[10]); i++) {
        MessageParts parts;
        if (as_int64(PyList_GET_ITEM(args[10], i), &offset) < 0)
            odd = -1;
        else if (position < 0 || position >= buffer.len ||
                 !find_parts((const uint8_t *)buffer.buf + position, buffer.len - position, &parts) ||
                 (int64_t)get64(parts.record + 20) != offset)
            odd = 1;
        else if ((odd = i > 0 ? add_text(&out, ",") : 0) == 0)
            odd = add_message(&out, &shared, &parts);
        position += odd == 0 ? parts.size : 0;
    }
    PyBuffer_Release(&buffer);
    PyObject *made = odd < 0    ? NULL
                     : odd == 0 ? Py_BuildValue("(y#L)", out.bytes, out.size, (long long)position)
                                : Py_NewRef(Py_None);
    PyMem_Free(out.bytes);
    return made;
}
