/* Records of the commit log; the twins of protocol/record.py and store/appender.py. */
#include "native.h"

#define MAGIC_V1 0xDAA320A7u
#define UNHOSTED 74
#define IPV4 8
#define IPV6 20
#define BORN_HOST_IPV6 0x10u
#define STORE_HOST_IPV6 0x20u

int read_host(PyObject *object, Span *host)
{
    if (!PyBytes_Check(object) || (PyBytes_GET_SIZE(object) != IPV4 && PyBytes_GET_SIZE(object) != IPV6)) {
        PyErr_SetString(PyExc_TypeError, "a host is 8 or 20 bytes");
        return -1;
    }
    *host = (Span){(const uint8_t *)PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object)};
    return 0;
}

static int read_origin(PyObject *incoming, Origin *origin)
{
    return as_int64(PyTuple_GET_ITEM(incoming, INCOMING_BORN_TIMESTAMP), &origin->born_time) < 0 ||
                   read_host(PyTuple_GET_ITEM(incoming, INCOMING_BORN_HOST), &origin->born_host) < 0 ||
                   as_int64(PyTuple_GET_ITEM(incoming, INCOMING_STORE_TIMESTAMP), &origin->store_time) < 0 ||
                   read_host(PyTuple_GET_ITEM(incoming, INCOMING_STORE_HOST), &origin->store_host) < 0 ||
                   as_int32(PyTuple_GET_ITEM(incoming, INCOMING_RECONSUME_TIMES), &origin->reconsume_times) < 0 ||
                   as_int64(PyTuple_GET_ITEM(incoming, INCOMING_PREPARED_TRANSACTION_OFFSET), &origin->prepared) < 0
               ? -1
               : 0;
}

int read_bytes(PyObject *object, Span *span)
{
    if (!PyBytes_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "topic and body are bytes");
        return -1;
    }
    *span = (Span){(const uint8_t *)PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object)};
    return 0;
}

/* Read all but the topic, which a record carries encoded. Of a batch `body` is the request's, `properties` are common. */
int read_incoming(PyObject *incoming, Record *record, Origin *origin)
{
    if (!PyTuple_Check(incoming) || PyTuple_GET_SIZE(incoming) != INCOMING_FIELDS) {
        PyErr_SetString(PyExc_TypeError, "an Incoming has twelve fields");
        return -1;
    }
    return as_int32(PyTuple_GET_ITEM(incoming, INCOMING_QUEUE_ID), &record->queue_id) < 0 ||
                   read_bytes(PyTuple_GET_ITEM(incoming, INCOMING_BODY), &record->body) < 0 ||
                   text_span(PyTuple_GET_ITEM(incoming, INCOMING_TEXT), &record->properties) < 0 ||
                   as_int32(PyTuple_GET_ITEM(incoming, INCOMING_FLAG), &record->flag) < 0 ||
                   as_int32(PyTuple_GET_ITEM(incoming, INCOMING_SYS_FLAG), &record->sys_flag) < 0 ||
                   read_origin(incoming, origin) < 0
               ? -1
               : 0;
}

int64_t size_of(const Record *record, const Origin *origin)
{
    return UNHOSTED + origin->born_host.size + origin->store_host.size + record->topic.size + record->body.size +
           record->properties.size;
}

static uint32_t with_hosts(int32_t sys_flag, const Origin *origin)
{
    uint32_t bits = (origin->born_host.size == IPV6 ? BORN_HOST_IPV6 : 0) |
                    (origin->store_host.size == IPV6 ? STORE_HOST_IPV6 : 0);
    return ((uint32_t)sys_flag & ~(BORN_HOST_IPV6 | STORE_HOST_IPV6)) | bits;
}

/* Written from its begin to its end: what a kill leaves of it is what recovery knows as torn. */
void put_record(uint8_t *at, const Record *record, const Origin *origin, uint32_t size)
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

/* Make an instance of `kind`, a named tuple; `parts` are given away, and one that is NULL makes none. */
PyObject *make_tuple(PyTypeObject *kind, PyObject *const *parts, Py_ssize_t count)
{
    PyObject *made = NULL;
    int all = 1;
    for (Py_ssize_t i = 0; i < count; i++)
        all &= parts[i] != NULL;
    if (all)
        made = new_tuple(kind, count);
    for (Py_ssize_t i = 0; i < count; i++)
        if (made != NULL)
            PyTuple_SET_ITEM(made, i, parts[i]);
        else
            Py_XDECREF(parts[i]);
    return made;
}

static PyObject *share(PyObject *incoming, Py_ssize_t field)
{
    return Py_NewRef(PyTuple_GET_ITEM(incoming, field));
}

/* write_record(kind, queue, map, at, limit, topic, incoming, queue_offset, log_offset)
 * -> the AppendedRecord, which is `kind`; None if the record would end behind limit or its properties are too long:
 * nothing is written then */
PyObject *native_write_record(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int64_t at, limit;
    Record record;
    Origin origin;
    if (check_count(count, 9, "write_record") < 0 || as_int64(args[3], &at) < 0 || as_int64(args[4], &limit) < 0 ||
        read_bytes(args[5], &record.topic) < 0 || read_incoming(args[6], &record, &origin) < 0 ||
        as_int64(args[7], &record.queue_offset) < 0 || as_int64(args[8], &record.log_offset) < 0)
        return NULL;
    if (!PyType_Check(args[0]) || !PyType_IsSubtype((PyTypeObject *)args[0], &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "an AppendedRecord is a tuple");
        return NULL;
    }
    if (record.properties.size > LONGEST_PROPERTIES)
        Py_RETURN_NONE;
    Py_buffer map;
    if (PyObject_GetBuffer(args[2], &map, PyBUF_WRITABLE) < 0)
        return NULL;
    int64_t size = size_of(&record, &origin);
    if (limit > map.len)
        limit = map.len;
    int fits = at >= 0 && at <= limit && size <= limit - at && size <= INT32_MAX;
    PyObject *made = NULL;
    if (fits) {
        PyObject *incoming = args[6];
        PyObject *parts[APPENDED_FIELDS] = {
            [APPENDED_QUEUE] = Py_NewRef(args[1]),
            [APPENDED_LOG_OFFSET] = Py_NewRef(args[8]),
            [APPENDED_SIZE] = PyLong_FromLongLong(size),
            [APPENDED_QUEUE_OFFSET] = Py_NewRef(args[7]),
            [APPENDED_STORE_TIMESTAMP] = share(incoming, INCOMING_STORE_TIMESTAMP),
            [APPENDED_STORE_HOST] = share(incoming, INCOMING_STORE_HOST),
            [APPENDED_SYS_FLAG] = share(incoming, INCOMING_SYS_FLAG),
            [APPENDED_TEXT] = share(incoming, INCOMING_TEXT),
            [APPENDED_TAGS_CODE] = Py_NewRef(Py_None),
        };
        made = make_tuple((PyTypeObject *)args[0], parts, APPENDED_FIELDS);
        if (made != NULL)
            put_record((uint8_t *)map.buf + at, &record, &origin, (uint32_t)size);
    }
    PyBuffer_Release(&map);
    return fits ? made : Py_NewRef(Py_None);
}
