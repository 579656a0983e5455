/* Reading along a consume queue; the twin of the loop in store/fetch.py, for records in which nothing is unusual. */
#include "native.h"

#define MAGIC_V1 0xDAA320A7u
#define UNIT 20
#define BODY_AT 88
#define HOSTS 0x30u

typedef struct {
    const uint8_t *segment;
    Py_ssize_t segment_size; /* bytes of it that hold records */
    int64_t segment_begin;
    const uint8_t *topic; /* with its length before it */
    Py_ssize_t topic_size;
    int32_t queue_id;
} Place;

/* Say whether the record of a unit is what the unit says, with IPv4 hosts and an intact body (store/soundness.py). */
static int is_usual(const Place *place, int64_t log_offset, int32_t size, int64_t queue_offset)
{
    if (log_offset < place->segment_begin)
        return 0;
    int64_t at = log_offset - place->segment_begin;
    if (at > place->segment_size || size > place->segment_size - at || size < BODY_AT + place->topic_size + 2)
        return 0;
    const uint8_t *record = place->segment + at;
    int32_t body = (int32_t)get32(record + BODY_AT - 4);
    if ((int32_t)get32(record) != size || get32(record + 4) != MAGIC_V1 ||
        (int32_t)get32(record + 12) != place->queue_id || (int64_t)get64(record + 20) != queue_offset ||
        (int64_t)get64(record + 28) != log_offset || get32(record + 36) & HOSTS || body < 0 ||
        body > size - BODY_AT - place->topic_size - 2)
        return 0;
    const uint8_t *topic = record + BODY_AT + body;
    int64_t properties = (int16_t)get16(topic + place->topic_size);
    return properties == size - BODY_AT - body - place->topic_size - 2 &&
           memcmp(topic, place->topic, (size_t)place->topic_size) == 0 &&
           (crc32_of(record + BODY_AT, (size_t)body) & 0x7FFFFFFF) == get32(record + 8);
}

static int is_wanted(PyObject *accept, int64_t tags_code)
{
    if (accept == Py_None)
        return 1;
    PyObject *code = PyLong_FromLong((int32_t)(uint32_t)tags_code);
    PyObject *answer = code == NULL ? NULL : PyObject_CallOneArg(accept, code);
    Py_XDECREF(code);
    int wanted = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return wanted;
}

static int add_record(PyObject *records, PyObject *view, int64_t at, int32_t size)
{
    PyObject *begin = PyLong_FromLongLong(at), *end = PyLong_FromLongLong(at + size);
    PyObject *slice = begin != NULL && end != NULL ? PySlice_New(begin, end, NULL) : NULL;
    PyObject *record = slice == NULL ? NULL : PyObject_GetItem(view, slice);
    int failed = record == NULL || PyList_Append(records, record) < 0;
    Py_XDECREF(begin);
    Py_XDECREF(end);
    Py_XDECREF(slice);
    Py_XDECREF(record);
    return failed ? -1 : 0;
}

/* Walk until a limit, or until a unit whose record is not usual; return the units walked, -1 with an exception. */
static Py_ssize_t walk(const Place *place, const Py_buffer *units, int64_t offset, PyObject *view, PyObject *accept,
                       PyObject *records, int64_t max_messages, int64_t *room)
{
    Py_ssize_t walked = 0;
    for (; (walked + 1) * UNIT <= units->len; walked++) {
        const uint8_t *unit = (const uint8_t *)units->buf + walked * UNIT;
        int64_t log_offset = (int64_t)get64(unit), many = PyList_GET_SIZE(records);
        int32_t size = (int32_t)get32(unit + 8);
        if (many > 0 && (many >= max_messages || size > *room))
            break;
        int wanted = is_wanted(accept, (int64_t)get64(unit + 12));
        if (wanted < 0)
            return -1;
        if (!wanted)
            continue;
        if (!is_usual(place, log_offset, size, offset + walked))
            break;
        if (add_record(records, view, log_offset - place->segment_begin, size) < 0)
            return -1;
        *room -= size;
    }
    return walked;
}

/* walk_units(units, offset, view, wrote, begin, topic, queue_id, accept, records, max_messages, room)
 * -> (units walked, room left); records is added to */
PyObject *native_walk_units(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int64_t offset, wrote, max_messages, room;
    Place place;
    if (check_count(count, 11, "walk_units") < 0 || as_int64(args[1], &offset) < 0 || as_int64(args[3], &wrote) < 0 ||
        as_int64(args[4], &place.segment_begin) < 0 || as_int32(args[6], &place.queue_id) < 0 ||
        as_int64(args[9], &max_messages) < 0 || as_int64(args[10], &room) < 0)
        return NULL;
    if (!PyBytes_Check(args[5]) || !PyList_Check(args[8])) {
        PyErr_SetString(PyExc_TypeError, "walk_units takes a topic of bytes and a list");
        return NULL;
    }
    place.topic = (const uint8_t *)PyBytes_AS_STRING(args[5]);
    place.topic_size = PyBytes_GET_SIZE(args[5]);
    Py_buffer units, segment;
    if (PyObject_GetBuffer(args[0], &units, PyBUF_SIMPLE) < 0)
        return NULL;
    if (PyObject_GetBuffer(args[2], &segment, PyBUF_SIMPLE) < 0) {
        PyBuffer_Release(&units);
        return NULL;
    }
    place.segment = segment.buf;
    place.segment_size = wrote < segment.len ? (wrote < 0 ? 0 : (Py_ssize_t)wrote) : segment.len;
    Py_ssize_t walked = walk(&place, &units, offset, args[2], args[7], args[8], max_messages, &room);
    PyBuffer_Release(&segment);
    PyBuffer_Release(&units);
    if (walked < 0)
        return NULL;
    return Py_BuildValue("nL", walked, (long long)room);
}
