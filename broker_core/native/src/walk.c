/* Reading along a consume queue; the twin of the loop in store/fetch.py, for records in which nothing is unusual. */
#include "native.h"

#define MAGIC_V1 0xDAA320A7u
#define UNIT 20
#define BODY_AT 88
#define HOSTS 0x30u
#define MOST_NAMES 16
#define AHEAD 4

typedef struct {
    const uint8_t *segment;
    Py_ssize_t segment_size; /* bytes of it that hold records */
    int64_t segment_begin;
    const uint8_t *topic; /* with its length before it */
    Py_ssize_t topic_size;
    int32_t queue_id;
} Place;

/* Say whether the record of a unit is what the unit says, with IPv4 hosts (store/soundness.py), but for its body. */
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
           memcmp(topic, place->topic, (size_t)place->topic_size) == 0;
}

/* Have the processor fetch head and properties of a record that will be tested soon: waiting is half of a test. */
static void fetch_soon(const Place *place, const uint8_t *unit)
{
    int64_t at = (int64_t)get64(unit) - place->segment_begin;
    int32_t size = (int32_t)get32(unit + 8);
    if (at < 0 || size < BODY_AT || at > place->segment_size || size > place->segment_size - at)
        return;
    __builtin_prefetch(place->segment + at);
    __builtin_prefetch(place->segment + at + 64);
    __builtin_prefetch(place->segment + at + size - 64);
    __builtin_prefetch(place->segment + at + size - 1);
}

static int has_intact_body(const uint8_t *record)
{
    return (crc32_of(record + BODY_AT, get32(record + BODY_AT - 4)) & 0x7FFFFFFF) == get32(record + 8);
}

static int is_wanted(PyObject *accept, int64_t tags_code)
{
    if (accept == Py_None || tags_code < INT32_MIN) /* an address of an extension that is gone */
        return 1;
    PyObject *code = PyLong_FromLong((int32_t)(uint32_t)tags_code);
    PyObject *answer = code == NULL ? NULL : PyObject_CallOneArg(accept, code);
    Py_XDECREF(code);
    int wanted = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return wanted;
}

/* What a message is tested by: the values of some properties (store/fetch.py, PropertyTest). */
typedef struct {
    PyObject *test; /* NULL: every message passes */
    Span program;   /* that decides the same, for predicate.c; empty for none */
    Py_ssize_t count;
    Span names[MOST_NAMES];
} Test;

/* Read a PropertyTest, or None; return -1 with an exception, 1 for one that is left to Python. */
static int read_test(PyObject *given, Test *test)
{
    *test = (Test){0};
    if (given == Py_None)
        return 0;
    if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 3 || !PyTuple_Check(PyTuple_GET_ITEM(given, 0))) {
        PyErr_SetString(PyExc_TypeError, "walk_units takes names, a test and its program");
        return -1;
    }
    if (read_bytes(PyTuple_GET_ITEM(given, 2), &test->program) < 0)
        return -1;
    PyObject *names = PyTuple_GET_ITEM(given, 0);
    test->count = PyTuple_GET_SIZE(names);
    if (test->count > MOST_NAMES)
        return 1;
    for (Py_ssize_t i = 0; i < test->count; i++) {
        Span *name = &test->names[i];
        if (text_span(PyTuple_GET_ITEM(names, i), name) < 0)
            return -1;
        if (name->size == 0 || memchr(name->bytes, NAME_END, (size_t)name->size) != NULL)
            return 1;
    }
    test->test = PyTuple_GET_ITEM(given, 1);
    return 0;
}

/* Find the values that are asked for, in property text; the last duplicate with a value counts. */
static void find_values(const Test *test, Span text, Span *values)
{
    const uint8_t *at = text.bytes, *end = at + text.size;
    while (at < end) {
        const uint8_t *pair = at;
        at = memchr(pair, PAIR_END, (size_t)(end - pair));
        at = at == NULL ? end : at;
        for (Py_ssize_t i = 0; i < test->count; i++) {
            Span name = test->names[i];
            if (at - pair > name.size + 1 && *pair == *name.bytes && pair[name.size] == NAME_END &&
                memcmp(pair, name.bytes, (size_t)name.size) == 0)
                values[i] = (Span){pair + name.size + 1, at - pair - name.size - 1};
        }
        at++;
    }
}

/* Have Python test values; return whether they pass, -1 with an exception. */
static int ask(const Test *test, const Span *values)
{
    PyObject *arguments[MOST_NAMES], *answer = NULL;
    Py_ssize_t made = 0;
    for (; made < test->count; made++) {
        Span value = values[made];
        arguments[made] = value.size == 0 ? Py_NewRef(Py_None)
                                          : PyUnicode_DecodeUTF8((const char *)value.bytes, value.size, "replace");
        if (arguments[made] == NULL)
            break;
    }
    if (made == test->count)
        answer = PyObject_Vectorcall(test->test, arguments, (size_t)made, NULL);
    while (made > 0)
        Py_DECREF(arguments[--made]);
    int passed = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return passed;
}

/* Return whether a usual record passes, -1 with an exception. */
static int passes(const Test *test, const uint8_t *record, Py_ssize_t topic_size)
{
    if (test->test == NULL)
        return 1;
    const uint8_t *text = record + BODY_AT + get32(record + BODY_AT - 4) + topic_size;
    Span values[MOST_NAMES] = {{0}};
    find_values(test, (Span){text + 2, (int16_t)get16(text)}, values);
    int passed = test->program.size == 0 ? PREDICATE_ASKS : run_predicate(test->program, values, test->count);
    return passed == PREDICATE_ASKS ? ask(test, values) : passed;
}

/* Where a record that is selected lies in the segment. */
typedef struct {
    int64_t at;
    int32_t size;
} Found;

typedef struct {
    Found *found;
    Py_ssize_t count;
    int64_t bytes; /* of all */
} Selected;

static int add_record(PyObject *records, PyObject *view, const Found *found)
{
    PyObject *begin = PyLong_FromLongLong(found->at), *end = PyLong_FromLongLong(found->at + found->size);
    PyObject *slice = begin != NULL && end != NULL ? PySlice_New(begin, end, NULL) : NULL;
    PyObject *record = slice == NULL ? NULL : PyObject_GetItem(view, slice);
    int failed = record == NULL || PyList_Append(records, record) < 0;
    Py_XDECREF(begin);
    Py_XDECREF(end);
    Py_XDECREF(slice);
    Py_XDECREF(record);
    return failed ? -1 : 0;
}

static PyObject *join(const uint8_t *segment, const Selected *selected)
{
    PyObject *joined = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)selected->bytes);
    if (joined == NULL)
        return NULL;
    char *to = PyBytes_AS_STRING(joined);
    for (Py_ssize_t i = 0; i < selected->count; i++) {
        memcpy(to, segment + selected->found[i].at, (size_t)selected->found[i].size);
        to += selected->found[i].size;
    }
    return joined;
}

/* Return what is selected as bytes if the records have fewer than `joined_below` each, else b"" and add views. */
static PyObject *hand_over(const Place *place, const Selected *selected, PyObject *view, PyObject *records,
                           int64_t joined_below)
{
    if (selected->count > 0 && selected->bytes / selected->count < joined_below)
        return join(place->segment, selected);
    for (Py_ssize_t i = 0; i < selected->count; i++) {
        if (add_record(records, view, &selected->found[i]) < 0)
            return NULL;
    }
    return PyBytes_FromStringAndSize(NULL, 0);
}

/* Walk until a limit, or until a unit whose record is not usual; return the units walked, -1 with an exception.
 * `many` records were selected before. */
static Py_ssize_t walk(const Place *place, const Py_buffer *units, int64_t offset, PyObject *accept, const Test *test,
                       Selected *selected, int64_t many, int64_t max_messages, int64_t *room)
{
    Py_ssize_t walked = 0;
    for (; (walked + 1) * UNIT <= units->len; walked++) {
        const uint8_t *unit = (const uint8_t *)units->buf + walked * UNIT;
        int64_t log_offset = (int64_t)get64(unit), taken = many + selected->count;
        int32_t size = (int32_t)get32(unit + 8);
        if (taken > 0 && (taken >= max_messages || size > *room))
            break;
        int wanted = is_wanted(accept, (int64_t)get64(unit + 12));
        if (wanted < 0)
            return -1;
        if (!wanted)
            continue;
        if ((walked + 1 + AHEAD) * UNIT <= units->len)
            fetch_soon(place, unit + AHEAD * UNIT);
        if (!is_usual(place, log_offset, size, offset + walked))
            break;
        const uint8_t *record = place->segment + (log_offset - place->segment_begin);
        wanted = passes(test, record, place->topic_size);
        if (wanted < 0)
            return -1;
        if (!wanted)
            continue;
        if (!has_intact_body(record))
            break;
        selected->found[selected->count++] = (Found){log_offset - place->segment_begin, size};
        selected->bytes += size;
        *room -= size;
    }
    return walked;
}

/* Walk, and return (units walked, room left, records, joined); NULL with an exception. */
static PyObject *walk_and_hand_over(const Place *place, const Py_buffer *units, int64_t offset, PyObject *const *args,
                                    const Test *test, int64_t max_messages, int64_t room, int64_t joined_below)
{
    /* No more than there are units, nor than the limit of a walk, which is at least one. */
    int64_t most = units->len / UNIT;
    most = max_messages < most ? max_messages : most;
    Selected selected = {PyMem_New(Found, most < 1 ? 1 : (size_t)most), 0, 0};
    if (selected.found == NULL)
        return PyErr_NoMemory();
    PyObject *records = args[9], *joined = NULL;
    int64_t many = PyList_GET_SIZE(records);
    Py_ssize_t walked = walk(place, units, offset, args[7], test, &selected, many, max_messages, &room);
    if (walked >= 0)
        joined = hand_over(place, &selected, args[2], records, joined_below);
    PyMem_Free(selected.found);
    return joined == NULL ? NULL : Py_BuildValue("nLnN", walked, (long long)room, selected.count, joined);
}

/* walk_units(units, offset, view, wrote, begin, topic, queue_id, accept, properties, records, max_messages, room,
 *            joined_below) -> (units walked, room left, records selected, joined); records is added to */
PyObject *native_walk_units(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int64_t offset, wrote, max_messages, room, joined_below;
    Place place;
    Test test;
    if (check_count(count, 13, "walk_units") < 0 || as_int64(args[1], &offset) < 0 || as_int64(args[3], &wrote) < 0 ||
        as_int64(args[4], &place.segment_begin) < 0 || as_int32(args[6], &place.queue_id) < 0 ||
        as_int64(args[10], &max_messages) < 0 || as_int64(args[11], &room) < 0 ||
        as_int64(args[12], &joined_below) < 0)
        return NULL;
    if (!PyBytes_Check(args[5]) || !PyList_Check(args[9])) {
        PyErr_SetString(PyExc_TypeError, "walk_units takes a topic of bytes and a list");
        return NULL;
    }
    int odd = read_test(args[8], &test);
    if (odd != 0)
        return odd < 0 ? NULL : Py_BuildValue("nLny#", (Py_ssize_t)0, (long long)room, (Py_ssize_t)0, "", (Py_ssize_t)0);
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
    PyObject *answer = walk_and_hand_over(&place, &units, offset, args, &test, max_messages, room, joined_below);
    PyBuffer_Release(&segment);
    PyBuffer_Release(&units);
    return answer;
}
