/* Batches: from the body of a send to records, units and keys in one go (protocol/README.md#batches).
 * The twin of protocol/batch.py with `encode`, `pack_units` and `hash_keys`; no object is made for a message. */
#include "native.h"

#define HEAD 20
#define FLAG_AT 12
#define BODY_LENGTH_AT 16
#define UNIT 20
#define ID_OFFSET_DIGITS 16

typedef struct {
    int32_t flag;
    Span body, text;
} Entry;

/* Cut the first entry off `rest`; return 0 if there is no sound one. */
static int next_entry(Span *rest, Entry *entry)
{
    const uint8_t *at = rest->bytes, *end = at + rest->size;
    if (rest->size < HEAD + 2)
        return 0;
    entry->flag = (int32_t)get32(at + FLAG_AT);
    entry->body = (Span){at + HEAD, (int32_t)get32(at + BODY_LENGTH_AT)};
    if (entry->body.size < 0 || entry->body.size > end - entry->body.bytes - 2)
        return 0;
    const uint8_t *length_at = entry->body.bytes + entry->body.size;
    entry->text = (Span){length_at + 2, (int16_t)get16(length_at)};
    if (entry->text.size < 0 || entry->text.size > end - entry->text.bytes)
        return 0;
    rest->bytes = entry->text.bytes + entry->text.size;
    rest->size = end - rest->bytes;
    return 1;
}

/* The text of an entry with `common` behind it has two parts and perhaps a separator between them. */
static Py_ssize_t trim(Span *text, Span common, int *has_separator)
{
    if (text->size > 0 && text->bytes[text->size - 1] == PAIR_END)
        text->size--, *has_separator = common.size > 0;
    else
        *has_separator = text->size > 0 && common.size > 0;
    return text->size + *has_separator + common.size;
}

/* measure_batch(body, common) -> (messages, bytes of all bodies and texts, longest body, longest text), or None if the
 * body is not sound: Python says what is wrong with it */
PyObject *native_measure_batch(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Span rest, common;
    if (check_count(count, 2, "measure_batch") < 0 || read_bytes(args[0], &rest) < 0 || text_span(args[1], &common) < 0)
        return NULL;
    Py_ssize_t many = 0, bytes = 0, longest_body = 0, longest_text = 0;
    while (rest.size > 0) {
        Entry entry;
        int has_separator;
        if (!next_entry(&rest, &entry))
            Py_RETURN_NONE;
        if (!check_utf8(entry.text)) {
            if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
                return NULL;
            PyErr_Clear();
            Py_RETURN_NONE;
        }
        Py_ssize_t text = trim(&entry.text, common, &has_separator);
        many++;
        bytes += entry.body.size + text;
        longest_body = entry.body.size > longest_body ? entry.body.size : longest_body;
        longest_text = text > longest_text ? text : longest_text;
    }
    if (many == 0)
        Py_RETURN_NONE;
    return Py_BuildValue("nnnn", many, bytes, longest_body, longest_text);
}

/* batch_asks_for_nothing(body) -> whether no message of it has a property that asks for more than to be stored, or the
 * body is not sound: whoever stores it says what is wrong with it */
PyObject *native_batch_asks_for_nothing(PyObject *module, PyObject *body)
{
    Span rest;
    if (read_bytes(body, &rest) < 0)
        return NULL;
    int asks = 0;
    while (rest.size > 0) {
        Entry entry;
        if (!next_entry(&rest, &entry))
            Py_RETURN_TRUE;
        if (!check_utf8(entry.text)) {
            if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
                return NULL;
            PyErr_Clear();
            Py_RETURN_TRUE;
        }
        asks = asks || text_asks_for_more(entry.text);
    }
    return PyBool_FromLong(!asks);
}

/* A text in two parts, put together for `put_record`. */
static Span whole_text(uint8_t scratch[LONGEST_PROPERTIES], Span text, Span common)
{
    int has_separator;
    Py_ssize_t size = trim(&text, common, &has_separator);
    if (size > LONGEST_PROPERTIES)
        return (Span){NULL, -1};
    memcpy(scratch, text.bytes, (size_t)text.size);
    if (has_separator)
        scratch[text.size] = PAIR_END;
    memcpy(scratch + text.size + has_separator, common.bytes, (size_t)common.size);
    return (Span){scratch, size};
}

static int put_unit(uint8_t *at, const Record *record, int64_t size, Span tags)
{
    uint32_t code = 0;
    if (hash_text(tags, &code) < 0)
        return -1;
    put64(at, (uint64_t)record->log_offset);
    put32(at + 8, (uint32_t)size);
    put64(at + 12, (uint64_t)(int64_t)(int32_t)code);
    return 0;
}

typedef struct {
    PyObject *places, *units;
    Keys keys;
    int64_t end;
} Written;

static int write_entry(Span map, int64_t *at, Record *record, const Origin *origin, uint32_t topic, uint8_t *unit,
                       Written *written)
{
    int64_t size = size_of(record, origin);
    Marks marks;
    if (*at < 0 || *at > map.size || size > map.size - *at) {
        PyErr_SetString(PyExc_ValueError, "a record does not fit");
        return -1;
    }
    PyObject *place = PyLong_FromLongLong(record->log_offset);
    int failed = place == NULL || PyList_Append(written->places, place) < 0;
    Py_XDECREF(place);
    read_marks(record->properties, &marks);
    if (failed || put_unit(unit, record, size, marks.tags) < 0 ||
        add_keys(&written->keys, topic, &marks, record->log_offset, origin->store_time) < 0)
        return -1;
    put_record((uint8_t *)map.bytes + *at, record, origin, (uint32_t)size);
    *at += size;
    record->log_offset += size;
    record->queue_offset++;
    return 0;
}

static int write_entries(Span map, int64_t at, Span body, Span common, uint32_t topic, Record *record,
                         const Origin *origin, Py_ssize_t many, Written *written)
{
    uint8_t scratch[LONGEST_PROPERTIES];
    uint8_t *unit = (uint8_t *)PyBytes_AS_STRING(written->units);
    Py_ssize_t number = 0;
    int64_t begin = at;
    for (; body.size > 0; number++, unit += UNIT) {
        Entry entry;
        if (!next_entry(&body, &entry) || number == many)
            break;
        record->flag = entry.flag;
        record->body = entry.body;
        record->properties = whole_text(scratch, entry.text, common);
        if (record->properties.size < 0)
            break;
        if (write_entry(map, &at, record, origin, topic, unit, written) < 0)
            break;
    }
    written->end = record->log_offset;
    if (body.size == 0 && number == many)
        return 0;
    /* Whole records behind the end of the log could be taken for later ones after a kill. */
    if (at > begin)
        memset((uint8_t *)map.bytes + begin, 0, (size_t)(at - begin));
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the batch differs from the one that was measured");
    return -1;
}

/* write_batch(map, at, topic, incoming, many, queue_offset, log_offset)
 * -> (log offset of each record, their end, units, keys); the body is one that was measured, for which there is room */
PyObject *native_write_batch(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int64_t at, many;
    Span name;
    Record record;
    Origin origin;
    uint32_t topic;
    if (check_count(count, 7, "write_batch") < 0 || as_int64(args[1], &at) < 0 ||
        read_bytes(args[2], &record.topic) < 0 || read_incoming(args[3], &record, &origin) < 0 ||
        text_span(PyTuple_GET_ITEM(args[3], INCOMING_TOPIC), &name) < 0 || topic_hash(name, &topic) < 0 ||
        as_int64(args[4], &many) < 0 || as_int64(args[5], &record.queue_offset) < 0 ||
        as_int64(args[6], &record.log_offset) < 0)
        return NULL;
    Span body = record.body, common = record.properties;
    if (many < 0 || many > body.size / (HEAD + 2)) {
        PyErr_SetString(PyExc_ValueError, "the batch differs from the one that was measured");
        return NULL;
    }
    Py_buffer map;
    if (PyObject_GetBuffer(args[0], &map, PyBUF_WRITABLE) < 0)
        return NULL;
    Written written = {PyList_New(0), PyBytes_FromStringAndSize(NULL, (Py_ssize_t)many * UNIT), {0}, 0};
    int failed = written.places == NULL || written.units == NULL ||
                 write_entries((Span){map.buf, map.len}, at, body, common, topic, &record, &origin, (Py_ssize_t)many,
                               &written) < 0;
    PyBuffer_Release(&map);
    PyObject *keys = failed ? NULL : take_keys(&written.keys);
    if (keys != NULL)
        return Py_BuildValue("NLNN", written.places, (long long)written.end, written.units, keys);
    drop_keys(&written.keys);
    Py_XDECREF(written.places);
    Py_XDECREF(written.units);
    return NULL;
}

uint8_t *put_hex(uint8_t *at, uint64_t value, int digits)
{
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        *at++ = (uint8_t)"0123456789ABCDEF"[value >> shift & 15];
    return at;
}

/* format_ids(host, log_offsets) -> the message ids of these records of the broker at `host`, with commas between them */
PyObject *native_format_ids(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Span host;
    if (check_count(count, 2, "format_ids") < 0 || read_bytes(args[0], &host) < 0)
        return NULL;
    if (!PyList_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "format_ids takes a list");
        return NULL;
    }
    Py_ssize_t many = PyList_GET_SIZE(args[1]);
    Py_ssize_t each = 2 * host.size + ID_OFFSET_DIGITS + 1;
    if (many == 0)
        return PyUnicode_FromString("");
    PyObject *ids = PyUnicode_New(many * each - 1, 127);
    if (ids == NULL)
        return NULL;
    uint8_t *at = PyUnicode_1BYTE_DATA(ids);
    for (Py_ssize_t i = 0; i < many; i++) {
        int64_t log_offset;
        if (as_int64(PyList_GET_ITEM(args[1], i), &log_offset) < 0) {
            Py_DECREF(ids);
            return NULL;
        }
        if (i > 0)
            *at++ = ',';
        for (Py_ssize_t k = 0; k < host.size; k++)
            at = put_hex(at, host.bytes[k], 2);
        at = put_hex(at, (uint64_t)log_offset, ID_OFFSET_DIGITS);
    }
    return ids;
}
