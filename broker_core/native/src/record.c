/* Records of the commit log (store-format.md 2.1); the twins of protocol/record.py and store/appender.py. */
#include "native.h"

#define MAGIC_V1 0xDAA320A7u
#define UNHOSTED 74
#define LONGEST_PROPERTIES 32767
#define IPV4 8
#define IPV6 20
#define BORN_HOST_IPV6 0x10u
#define STORE_HOST_IPV6 0x20u

/* What the records of one request share; the hosts belong to the tuple it was read from. */
typedef struct {
    int64_t born_time, store_time, prepared;
    int32_t reconsume_times;
    Span born_host, store_host;
} Origin;

typedef struct {
    Span topic, body, properties;
    int32_t queue_id, flag, sys_flag;
    int64_t queue_offset, log_offset;
} Record;

static int read_host(PyObject *object, Span *host)
{
    if (!PyBytes_Check(object) || (PyBytes_GET_SIZE(object) != IPV4 && PyBytes_GET_SIZE(object) != IPV6)) {
        PyErr_SetString(PyExc_TypeError, "a host is 8 or 20 bytes");
        return -1;
    }
    *host = (Span){(const uint8_t *)PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object)};
    return 0;
}

static int read_origin(PyObject *tuple, Origin *origin)
{
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != 6) {
        PyErr_SetString(PyExc_TypeError, "an origin is a tuple of six");
        return -1;
    }
    return as_int64(PyTuple_GET_ITEM(tuple, 0), &origin->born_time) < 0 ||
                   read_host(PyTuple_GET_ITEM(tuple, 1), &origin->born_host) < 0 ||
                   as_int64(PyTuple_GET_ITEM(tuple, 2), &origin->store_time) < 0 ||
                   read_host(PyTuple_GET_ITEM(tuple, 3), &origin->store_host) < 0 ||
                   as_int32(PyTuple_GET_ITEM(tuple, 4), &origin->reconsume_times) < 0 ||
                   as_int64(PyTuple_GET_ITEM(tuple, 5), &origin->prepared) < 0
               ? -1
               : 0;
}

static int read_text(PyObject *text, Span *span)
{
    span->bytes = (const uint8_t *)PyUnicode_AsUTF8AndSize(text, &span->size);
    return span->bytes == NULL ? -1 : 0;
}

static int read_bytes(PyObject *object, Span *span)
{
    if (!PyBytes_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "topic and body are bytes");
        return -1;
    }
    *span = (Span){(const uint8_t *)PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object)};
    return 0;
}

static int64_t size_of(const Record *record, const Origin *origin)
{
    return UNHOSTED + origin->born_host.size + origin->store_host.size + record->topic.size + record->body.size +
           record->properties.size;
}

static uint8_t *put_span(uint8_t *at, Span span)
{
    memcpy(at, span.bytes, (size_t)span.size);
    return at + span.size;
}

static uint32_t with_hosts(int32_t sys_flag, const Origin *origin)
{
    uint32_t bits = (origin->born_host.size == IPV6 ? BORN_HOST_IPV6 : 0) |
                    (origin->store_host.size == IPV6 ? STORE_HOST_IPV6 : 0);
    return ((uint32_t)sys_flag & ~(BORN_HOST_IPV6 | STORE_HOST_IPV6)) | bits;
}

/* Written from its begin to its end: what a kill leaves of it is what recovery knows as torn. */
static void put_record(uint8_t *at, const Record *record, const Origin *origin, uint32_t size)
{
    put32(at, size);
    put32(at + 4, MAGIC_V1);
    put32(at + 8, crc32_of(record->body.bytes, (size_t)record->body.size) & 0x7FFFFFFF);
    put32(at + 12, (uint32_t)record->queue_id);
    put32(at + 16, (uint32_t)record->flag);
    put64(at + 20, (uint64_t)record->queue_offset);
    put64(at + 28, (uint64_t)record->log_offset);
    put32(at + 36, with_hosts(record->sys_flag, origin));
    put64(at + 40, (uint64_t)origin->born_time);
    at = put_span(at + 48, origin->born_host);
    put64(at, (uint64_t)origin->store_time);
    at = put_span(at + 8, origin->store_host);
    put32(at, (uint32_t)origin->reconsume_times);
    put64(at + 4, (uint64_t)origin->prepared);
    put32(at + 12, (uint32_t)record->body.size);
    at = put_span(at + 16, record->body);
    at = put_span(at, record->topic);
    put16(at, (uint16_t)record->properties.size);
    put_span(at + 2, record->properties);
}

/* write_record(map, at, limit, topic, body, text, origin, queue_id, queue_offset, log_offset, sys_flag, flag)
 * -> bytes of the record; 0 if it would end behind limit, -1 if its properties are too long: nothing is written */
PyObject *native_write_record(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int64_t at, limit;
    Record record;
    Origin origin;
    if (check_count(count, 12, "write_record") < 0 || as_int64(args[1], &at) < 0 || as_int64(args[2], &limit) < 0 ||
        read_bytes(args[3], &record.topic) < 0 || read_bytes(args[4], &record.body) < 0 ||
        read_text(args[5], &record.properties) < 0 || read_origin(args[6], &origin) < 0 ||
        as_int32(args[7], &record.queue_id) < 0 || as_int64(args[8], &record.queue_offset) < 0 ||
        as_int64(args[9], &record.log_offset) < 0 || as_int32(args[10], &record.sys_flag) < 0 ||
        as_int32(args[11], &record.flag) < 0)
        return NULL;
    if (record.properties.size > LONGEST_PROPERTIES)
        return PyLong_FromLong(-1);
    Py_buffer map;
    if (PyObject_GetBuffer(args[0], &map, PyBUF_WRITABLE) < 0)
        return NULL;
    int64_t size = size_of(&record, &origin);
    if (limit > map.len)
        limit = map.len;
    if (at < 0 || at > limit || size > limit - at || size > INT32_MAX)
        size = 0;
    else
        put_record((uint8_t *)map.buf + at, &record, &origin, (uint32_t)size);
    PyBuffer_Release(&map);
    return PyLong_FromLongLong(size);
}

/* -- a series of records -------------------------------------------------------------------------------------------- */

static int is_entry(PyObject *entry)
{
    if (PyTuple_Check(entry) && PyTuple_GET_SIZE(entry) == 3 && PyBytes_Check(PyTuple_GET_ITEM(entry, 1)) &&
        PyUnicode_Check(PyTuple_GET_ITEM(entry, 2)))
        return 1;
    PyErr_SetString(PyExc_TypeError, "an entry is a flag, bytes and a text");
    return 0;
}

/* Return the property text of an entry with what all of them get behind it. */
static PyObject *whole_text(PyObject *text, PyObject *common)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), more = PyUnicode_GET_LENGTH(common);
    if (length == 0)
        return Py_NewRef(common);
    int has_end = PyUnicode_READ_CHAR(text, length - 1) == PAIR_END;
    if (more == 0)
        return has_end ? PyUnicode_Substring(text, 0, length - 1) : Py_NewRef(text);
    return has_end ? PyUnicode_Concat(text, common) : PyUnicode_FromFormat("%U\x02%U", text, common);
}

/* measure_series(entries, common) -> (texts, bytes of all bodies and texts, longest body, longest text) */
PyObject *native_measure_series(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (check_count(count, 2, "measure_series") < 0)
        return NULL;
    PyObject *entries = args[0], *common = args[1];
    if (!PyList_Check(entries) || !PyUnicode_Check(common)) {
        PyErr_SetString(PyExc_TypeError, "measure_series takes a list and a text");
        return NULL;
    }
    Py_ssize_t many = PyList_GET_SIZE(entries), bytes = 0, longest_body = 0, longest_text = 0;
    PyObject *texts = PyList_New(many);
    if (texts == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < many; i++) {
        PyObject *entry = PyList_GET_ITEM(entries, i), *text;
        Span span;
        if (!is_entry(entry) || (text = whole_text(PyTuple_GET_ITEM(entry, 2), common)) == NULL)
            goto failed;
        PyList_SET_ITEM(texts, i, text);
        if (read_text(text, &span) < 0)
            goto failed;
        Py_ssize_t body = PyBytes_GET_SIZE(PyTuple_GET_ITEM(entry, 1));
        bytes += body + span.size;
        longest_body = body > longest_body ? body : longest_body;
        longest_text = span.size > longest_text ? span.size : longest_text;
    }
    return Py_BuildValue("Nnnn", texts, bytes, longest_body, longest_text);
failed:
    Py_DECREF(texts);
    return NULL;
}

static PyObject *make_result(PyTypeObject *type, const Record *record, int64_t size, PyObject *origin)
{
    PyObject *result = type->tp_alloc(type, 5);
    if (result == NULL)
        return NULL;
    PyObject *parts[5] = {
        PyLong_FromLongLong(record->log_offset), PyLong_FromLongLong(size),
        PyLong_FromLongLong(record->queue_offset), Py_NewRef(PyTuple_GET_ITEM(origin, 2)),
        Py_NewRef(PyTuple_GET_ITEM(origin, 3)),
    };
    int is_whole = parts[0] != NULL && parts[1] != NULL && parts[2] != NULL;
    for (int i = 0; i < 5; i++)
        PyTuple_SET_ITEM(result, i, parts[i]);
    if (!is_whole)
        Py_CLEAR(result);
    return result;
}

/* Append the result and what the dispatcher is to follow of one record. */
static int note_record(const Record *record, int64_t size, PyTypeObject *type, PyObject *origin, PyObject *queue,
                       PyObject *text, PyObject *results, PyObject *followed)
{
    PyObject *result = make_result(type, record, size, origin);
    if (result == NULL)
        return -1;
    PyObject *follow = Py_BuildValue("OOOOOiOO", queue, PyTuple_GET_ITEM(result, 0), PyTuple_GET_ITEM(result, 1),
                                     PyTuple_GET_ITEM(result, 2), PyTuple_GET_ITEM(result, 3), record->sys_flag, text,
                                     Py_None);
    int failed = follow == NULL || PyList_Append(results, result) < 0 || PyList_Append(followed, follow) < 0;
    Py_DECREF(result);
    Py_XDECREF(follow);
    return failed ? -1 : 0;
}

/* write_series(map, at, topic, entries, texts, origin, queue, queue_id, queue_offset, log_offset, sys_flag, type)
 * -> (results, what to follow); the entries and texts are those of measure_series, for which there is room */
PyObject *native_write_series(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int64_t at;
    Record record;
    Origin origin;
    if (check_count(count, 12, "write_series") < 0 || as_int64(args[1], &at) < 0 ||
        read_bytes(args[2], &record.topic) < 0 || read_origin(args[5], &origin) < 0 ||
        as_int32(args[7], &record.queue_id) < 0 || as_int64(args[8], &record.queue_offset) < 0 ||
        as_int64(args[9], &record.log_offset) < 0 || as_int32(args[10], &record.sys_flag) < 0)
        return NULL;
    PyObject *entries = args[3], *texts = args[4];
    PyTypeObject *type = (PyTypeObject *)args[11];
    if (!PyList_Check(entries) || !PyList_Check(texts) || PyList_GET_SIZE(entries) != PyList_GET_SIZE(texts) ||
        !PyType_Check(args[11]) || !PyType_IsSubtype(type, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "write_series takes as many texts as entries, and a tuple type");
        return NULL;
    }
    Py_buffer map;
    if (PyObject_GetBuffer(args[0], &map, PyBUF_WRITABLE) < 0)
        return NULL;
    PyObject *results = PyList_New(0), *followed = PyList_New(0);
    int failed = results == NULL || followed == NULL;
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(entries); i++) {
        PyObject *entry = PyList_GET_ITEM(entries, i), *text = PyList_GET_ITEM(texts, i);
        failed = !is_entry(entry) || as_int32(PyTuple_GET_ITEM(entry, 0), &record.flag) < 0 ||
                 read_bytes(PyTuple_GET_ITEM(entry, 1), &record.body) < 0 || read_text(text, &record.properties) < 0;
        if (failed)
            break;
        int64_t size = size_of(&record, &origin);
        if (at < 0 || at > map.len || size > map.len - at || record.properties.size > LONGEST_PROPERTIES) {
            PyErr_SetString(PyExc_ValueError, "a record does not fit");
            failed = 1;
            break;
        }
        put_record((uint8_t *)map.buf + at, &record, &origin, (uint32_t)size);
        failed = note_record(&record, size, type, args[5], args[6], text, results, followed) < 0;
        at += size;
        record.log_offset += size;
        record.queue_offset++;
    }
    PyBuffer_Release(&map);
    if (!failed)
        return Py_BuildValue("NN", results, followed);
    Py_XDECREF(results);
    Py_XDECREF(followed);
    return NULL;
}
