/* A run of sends that differ in queue, time, properties, number and body only: from their headers to their records and
 * answers. It does what broker/processors/send.py does for each of them, and leaves to Python what is not plain. */
#include "native.h"

#define CUTS 4
#define SCRATCH 4096
#define LONGEST_NUMBER 18 /* digits that surely fit 64 bits */
#define ID_OFFSET_DIGITS 16
#define FRAME_PREFIX 8
#define SERIALIZER_JSON 0

/* The fields of a `SendPlan` of store/send_plan.py. */
enum {
    PLAN_REQUEST,
    PLAN_REQUEST_CUTS,
    PLAN_ANSWER,
    PLAN_ANSWER_CUTS,
    PLAN_TOPIC,
    PLAN_ENCODED_TOPIC,
    PLAN_QUEUES,
    PLAN_FLAG,
    PLAN_SYS_FLAG,
    PLAN_RECONSUME_TIMES,
    PLAN_BORN_HOST,
    PLAN_STORE_HOST,
    PLAN_ADDED,
    PLAN_LONGEST_BODY,
    PLAN_LONGEST_TEXT,
    PLAN_ONLY_WAITING,
    PLAN_FIELDS
};

/* JSON, cut where a value stands that differs; `cuts` says which one, by a letter each. */
typedef struct {
    Span pieces[CUTS + 1];
    const char *cuts;
} Form;

typedef struct {
    int64_t queue_id, born_time, opaque;
    Span properties; /* as they stand in the JSON */
} Sent;

typedef struct {
    PyObject *plan, *by_key, *pending, *now;
    PyTypeObject *kind;
    Form request, answer;
    Record record;
    Origin origin;
    Span added;
    int64_t queues, longest_body, longest_text, start, wrote, limit;
    int only_waiting;
    uint8_t *map;
    Growing answers;
} Run;

/* "next_offset", the attribute of a queue. */
static PyObject *next_offset;

static PyObject *of_plan(const Run *run, int field)
{
    return PyTuple_GET_ITEM(run->plan, field);
}

static int read_form(PyObject *pieces, PyObject *cuts, Form *form)
{
    if (!PyTuple_Check(pieces) || PyTuple_GET_SIZE(pieces) != CUTS + 1 || !PyBytes_Check(cuts) ||
        PyBytes_GET_SIZE(cuts) != CUTS) {
        PyErr_SetString(PyExc_TypeError, "a form has five pieces and four cuts");
        return -1;
    }
    form->cuts = PyBytes_AS_STRING(cuts);
    for (int i = 0; i <= CUTS; i++)
        if (read_bytes(PyTuple_GET_ITEM(pieces, i), &form->pieces[i]) < 0)
            return -1;
    return 0;
}

/* -- a request ------------------------------------------------------------------------------------------------------ */

static int take_piece(Span *rest, Span piece)
{
    if (rest->size < piece.size || memcmp(rest->bytes, piece.bytes, (size_t)piece.size) != 0)
        return 0;
    rest->bytes += piece.size;
    rest->size -= piece.size;
    return 1;
}

/* Read a number in its usual form, without a sign. */
static int take_number(Span *rest, int64_t most, int64_t *number)
{
    Py_ssize_t digits = 0;
    int64_t value = 0;
    for (; digits < rest->size && digits <= LONGEST_NUMBER; digits++) {
        uint8_t byte = rest->bytes[digits];
        if (byte < '0' || byte > '9')
            break;
        value = value * 10 + (byte - '0');
    }
    if (digits == 0 || digits > LONGEST_NUMBER || (digits > 1 && *rest->bytes == '0') || value > most)
        return 0;
    rest->bytes += digits;
    rest->size -= digits;
    *number = value;
    return 1;
}

static int take_string(Span *rest, Span *string)
{
    int has_escapes;
    const uint8_t *end = json_string_end(rest->bytes, rest->bytes + rest->size, &has_escapes);
    if (end == NULL)
        return 0;
    *string = (Span){rest->bytes, end - rest->bytes};
    rest->size -= end - rest->bytes;
    rest->bytes = end;
    return 1;
}

static int take_value(Span *rest, char cut, Sent *sent)
{
    switch (cut) {
    case 'q':
        return take_number(rest, INT32_MAX, &sent->queue_id);
    case 't':
        return take_number(rest, INT64_MAX, &sent->born_time);
    case 'o':
        return take_number(rest, INT32_MAX, &sent->opaque);
    case 'p':
        return take_string(rest, &sent->properties);
    default:
        return 0;
    }
}

static int read_sent(const Form *form, Span header, Sent *sent)
{
    for (int i = 0; i < CUTS; i++)
        if (!take_piece(&header, form->pieces[i]) || !take_value(&header, form->cuts[i], sent))
            return 0;
    return take_piece(&header, form->pieces[CUTS]) && header.size == 0;
}

/* header_matches(pieces, cuts, header) -> whether the header is of this form */
PyObject *native_header_matches(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Form form;
    Span header;
    Sent sent;
    if (check_count(count, 3, "header_matches") < 0 || read_form(args[0], args[1], &form) < 0 ||
        read_bytes(args[2], &header) < 0)
        return NULL;
    return PyBool_FromLong(read_sent(&form, header, &sent));
}

/* -- an answer ------------------------------------------------------------------------------------------------------ */

static uint8_t *put_decimal(uint8_t *at, int64_t number)
{
    uint8_t digits[24], *first = digits + sizeof digits;
    uint64_t left = (uint64_t)number;
    do
        *--first = (uint8_t)('0' + left % 10);
    while ((left /= 10) != 0);
    return put_span(at, (Span){first, digits + sizeof digits - first});
}

static uint8_t *put_id(uint8_t *at, const Run *run)
{
    Span host = run->origin.store_host;
    for (Py_ssize_t i = 0; i < host.size; i++)
        at = put_hex(at, host.bytes[i], 2);
    return put_hex(at, (uint64_t)run->record.log_offset, ID_OFFSET_DIGITS);
}

/* The most that an answer takes. */
static Py_ssize_t room_for_answer(const Run *run)
{
    Py_ssize_t size = FRAME_PREFIX + 2 * run->origin.store_host.size + ID_OFFSET_DIGITS + 3 * 20;
    for (int i = 0; i <= CUTS; i++)
        size += run->answer.pieces[i].size;
    return size;
}

static void put_answer(Run *run, const Sent *sent)
{
    uint8_t *begin = run->answers.bytes + run->answers.size, *at = begin + FRAME_PREFIX;
    for (int i = 0; i < CUTS; i++) {
        at = put_span(at, run->answer.pieces[i]);
        switch (run->answer.cuts[i]) {
        case 'i':
            at = put_id(at, run);
            break;
        case 'q':
            at = put_decimal(at, sent->queue_id);
            break;
        case 'n':
            at = put_decimal(at, run->record.queue_offset);
            break;
        default:
            at = put_decimal(at, sent->opaque);
        }
    }
    at = put_span(at, run->answer.pieces[CUTS]);
    put32(begin, (uint32_t)(at - begin - 4));
    put32(begin + 4, (uint32_t)(at - begin - FRAME_PREFIX));
    run->answers.size += at - begin;
}

/* -- a message ------------------------------------------------------------------------------------------------------ */

/* Put the text to be stored into `settled`; return it, or NULL: without an exception for one that is not plain. */
static PyObject *settle_sent(Run *run, Span raw, uint8_t *settled)
{
    uint8_t text[SCRATCH];
    Py_ssize_t size;
    int waits;
    if (raw.size > SCRATCH - 1 - run->added.size || !unescape_json(raw, text, &size) || size > run->longest_text)
        return NULL;
    if (!settle((Span){text, size}, run->added, settled, &size, &waits) || (run->only_waiting && !waits))
        return NULL;
    PyObject *stored = PyUnicode_DecodeUTF8((const char *)settled, size, NULL);
    if (stored == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
        PyErr_Clear(); /* Python's turn */
    run->record.properties = (Span){settled, size};
    return stored;
}

/* Return the queue, which is borrowed; NULL without an exception if there is none yet. */
static PyObject *find_queue(const Run *run, int64_t queue_id)
{
    PyObject *number = PyLong_FromLongLong(queue_id);
    PyObject *place = number == NULL ? NULL : PyTuple_Pack(2, of_plan(run, PLAN_TOPIC), number);
    PyObject *queue = place == NULL ? NULL : PyDict_GetItemWithError(run->by_key, place);
    Py_XDECREF(place);
    Py_XDECREF(number);
    return queue;
}

/* Count the message in its queue; return the offset it gets. */
static PyObject *take_offset(Run *run, PyObject *queue)
{
    PyObject *offset = PyObject_GetAttr(queue, next_offset);
    if (offset == NULL || as_int64(offset, &run->record.queue_offset) < 0)
        goto failed;
    PyObject *next = PyLong_FromLongLong(run->record.queue_offset + 1);
    int is_set = next != NULL && PyObject_SetAttr(queue, next_offset, next) == 0;
    Py_XDECREF(next);
    if (is_set)
        return offset;
failed:
    Py_XDECREF(offset);
    return NULL;
}

/* Append what the dispatcher needs; return -1 and leave the queue as it was if there is no memory. */
static int add_pending(Run *run, PyObject *queue, PyObject *offset, PyObject *text, int64_t size)
{
    PyObject *parts[APPENDED_FIELDS] = {
        [APPENDED_QUEUE] = Py_NewRef(queue),
        [APPENDED_LOG_OFFSET] = PyLong_FromLongLong(run->record.log_offset),
        [APPENDED_SIZE] = PyLong_FromLongLong(size),
        [APPENDED_QUEUE_OFFSET] = Py_NewRef(offset),
        [APPENDED_STORE_TIMESTAMP] = Py_NewRef(run->now),
        [APPENDED_STORE_HOST] = Py_NewRef(of_plan(run, PLAN_STORE_HOST)),
        [APPENDED_SYS_FLAG] = Py_NewRef(of_plan(run, PLAN_SYS_FLAG)),
        [APPENDED_TEXT] = Py_NewRef(text),
        [APPENDED_TAGS_CODE] = Py_NewRef(Py_None),
    };
    PyObject *made = make_tuple(run->kind, parts, APPENDED_FIELDS);
    int failed = made == NULL || PyList_Append(run->pending, made) < 0;
    Py_XDECREF(made);
    if (failed)
        PyObject_SetAttr(queue, next_offset, offset);
    return failed ? -1 : 0;
}

/* Store one message and add its answer; return 1, 0 for what is Python's turn, -1 with an exception. */
static int put_sent(Run *run, PyObject *frame)
{
    Span header;
    Sent sent;
    int64_t serializer;
    uint8_t settled[SCRATCH + 1];
    if (!PyTuple_Check(frame) || PyTuple_GET_SIZE(frame) != 3) {
        PyErr_SetString(PyExc_TypeError, "a Frame has three fields");
        return -1;
    }
    if (as_int64(PyTuple_GET_ITEM(frame, 0), &serializer) < 0 ||
        read_bytes(PyTuple_GET_ITEM(frame, 1), &header) < 0 ||
        read_bytes(PyTuple_GET_ITEM(frame, 2), &run->record.body) < 0)
        return -1;
    if (serializer != SERIALIZER_JSON || !read_sent(&run->request, header, &sent) || sent.queue_id >= run->queues ||
        run->record.body.size > run->longest_body)
        return 0;
    PyObject *queue = find_queue(run, sent.queue_id);
    PyObject *text = queue == NULL ? NULL : settle_sent(run, sent.properties, settled);
    if (text == NULL)
        return PyErr_Occurred() ? -1 : 0;
    run->record.queue_id = (int32_t)sent.queue_id;
    run->record.log_offset = run->start + run->wrote;
    run->origin.born_time = sent.born_time;
    int64_t size = size_of(&run->record, &run->origin);
    int result = run->record.properties.size <= LONGEST_PROPERTIES && size <= run->limit - run->wrote;
    if (result) {
        PyObject *offset = grow(&run->answers, room_for_answer(run)) == NULL ? NULL : take_offset(run, queue);
        result = offset == NULL || add_pending(run, queue, offset, text, size) < 0 ? -1 : 1;
        Py_XDECREF(offset);
    }
    Py_DECREF(text);
    if (result == 1) {
        put_record(run->map + run->wrote, &run->record, &run->origin, (uint32_t)size);
        put_answer(run, &sent);
        run->wrote += size;
    }
    return result;
}

/* -- a run ---------------------------------------------------------------------------------------------------------- */

static int read_plan(Run *run)
{
    if (!PyTuple_Check(run->plan) || PyTuple_GET_SIZE(run->plan) != PLAN_FIELDS) {
        PyErr_SetString(PyExc_TypeError, "a SendPlan has sixteen fields");
        return -1;
    }
    run->only_waiting = of_plan(run, PLAN_ONLY_WAITING) == Py_True;
    return read_form(of_plan(run, PLAN_REQUEST), of_plan(run, PLAN_REQUEST_CUTS), &run->request) < 0 ||
                   read_form(of_plan(run, PLAN_ANSWER), of_plan(run, PLAN_ANSWER_CUTS), &run->answer) < 0 ||
                   read_bytes(of_plan(run, PLAN_ENCODED_TOPIC), &run->record.topic) < 0 ||
                   as_int64(of_plan(run, PLAN_QUEUES), &run->queues) < 0 ||
                   as_int32(of_plan(run, PLAN_FLAG), &run->record.flag) < 0 ||
                   as_int32(of_plan(run, PLAN_SYS_FLAG), &run->record.sys_flag) < 0 ||
                   as_int32(of_plan(run, PLAN_RECONSUME_TIMES), &run->origin.reconsume_times) < 0 ||
                   read_host(of_plan(run, PLAN_BORN_HOST), &run->origin.born_host) < 0 ||
                   read_host(of_plan(run, PLAN_STORE_HOST), &run->origin.store_host) < 0 ||
                   text_span(of_plan(run, PLAN_ADDED), &run->added) < 0 ||
                   as_int64(of_plan(run, PLAN_LONGEST_BODY), &run->longest_body) < 0 ||
                   as_int64(of_plan(run, PLAN_LONGEST_TEXT), &run->longest_text) < 0
               ? -1
               : 0;
}

static PyObject *put_frames(Run *run, PyObject *frames, Py_ssize_t at, Py_ssize_t until)
{
    Py_ssize_t taken = 0;
    int result = 1;
    while (at + taken < until && (result = put_sent(run, PyList_GET_ITEM(frames, at + taken))) == 1)
        taken++;
    if (result < 0) {
        if (taken == 0)
            return NULL;
        PyErr_Clear(); /* what was stored is answered; the next run meets it again */
    }
    const char *answers = taken == 0 ? "" : (const char *)run->answers.bytes;
    return Py_BuildValue("nLy#", taken, (long long)run->wrote, answers, run->answers.size);
}

/* put_sends(kind, plan, frames, at, until, by_key, pending, map, wrote, limit, start, now)
 * -> (frames handled, where the records end in the map, the answers' frames) */
PyObject *native_put_sends(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int64_t at, until;
    if (check_count(count, 12, "put_sends") < 0)
        return NULL;
    Run run = {.plan = args[1], .by_key = args[5], .pending = args[6], .now = args[11]};
    if (!PyType_Check(args[0]) || !PyType_IsSubtype((PyTypeObject *)args[0], &PyTuple_Type) || !PyList_Check(args[2]) ||
        !PyDict_Check(args[5]) || !PyList_Check(args[6])) {
        PyErr_SetString(PyExc_TypeError, "put_sends takes a tuple class, a list, a dict and a list");
        return NULL;
    }
    run.kind = (PyTypeObject *)args[0];
    if (next_offset == NULL && (next_offset = PyUnicode_InternFromString("next_offset")) == NULL)
        return NULL;
    if (read_plan(&run) < 0 || as_int64(args[3], &at) < 0 || as_int64(args[4], &until) < 0 ||
        as_int64(args[8], &run.wrote) < 0 || as_int64(args[9], &run.limit) < 0 || as_int64(args[10], &run.start) < 0 ||
        as_int64(args[11], &run.origin.store_time) < 0)
        return NULL;
    if (at < 0 || until > PyList_GET_SIZE(args[2]) || run.wrote < 0) {
        PyErr_SetString(PyExc_ValueError, "there are no such frames, or no such place");
        return NULL;
    }
    Py_buffer map;
    if (PyObject_GetBuffer(args[7], &map, PyBUF_WRITABLE) < 0)
        return NULL;
    run.map = map.buf;
    run.limit = run.limit > map.len ? map.len : run.limit;
    PyObject *result = put_frames(&run, args[2], (Py_ssize_t)at, (Py_ssize_t)until);
    PyMem_Free(run.answers.bytes);
    PyBuffer_Release(&map);
    return result;
}
