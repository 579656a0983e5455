#include "native.h"

/* The digest of the sources, set by build.py. */
#ifndef SOURCES
#define SOURCES ""
#endif

#define FAST(name, what) {#name, (PyCFunction)(void (*)(void))native_##name, METH_FASTCALL, what}

static PyMethodDef functions[] = {
    {"crc32", native_crc32, METH_O, "The checksum of bytes, as zlib computes it."},
    {"pack_units", native_pack_units, METH_O, "Units of a consume queue."},
    {"format_properties", native_format_properties, METH_O, "Make the property text of pairs."},
    {"encode_entries", native_encode_entries, METH_O, "Make the body of a batch."},
    {"sync_file", native_sync_file, METH_O, "Wait until a file's data is on the disk."},
    {"batch_asks_for_nothing", native_batch_asks_for_nothing, METH_O, "Say whether a batch need only be stored."},
    {"keep_freed_memory", native_keep_freed_memory, METH_O, "Return less freed memory to the system."},
    FAST(cut_frames, "Cut bytes into frames."),
    FAST(decode_fields, "Make a header of its text form."),
    FAST(encode_fields, "Make the text form of a header."),
    FAST(decode_header, "Read a usual JSON header."),
    FAST(encode_frame_head, "Write a frame up to its body."),
    FAST(write_record, "Write one record."),
    FAST(measure_batch, "Measure the body of a batch."),
    FAST(write_batch, "Write the records of a batch."),
    FAST(format_ids, "Write the message ids of a batch."),
    FAST(encode_plain, "Make the body of a batch of plain messages."),
    FAST(settle_text, "Make the property text to be stored of that of a send."),
    FAST(header_matches, "Say whether a header is of a known form."),
    FAST(put_sends, "Store a run of sends and write their answers."),
    FAST(hash_keys, "Hash the keys of records."),
    FAST(put_entries, "Write entries of an index file."),
    FAST(decode_messages, "Make messages of records."),
    FAST(write_leased, "Write leased messages as JSON."),
    FAST(open_receipts, "Check receipts and sort them by portion."),
    FAST(walk_units, "Collect records along a consume queue."),
    FAST(check_records, "Find the damaged ones of many records, and copy their heads."),
    FAST(find_records, "Find where the records of answers begin."),
    FAST(gather_spans, "Copy parts of data into a column."),
    FAST(are_utf8, "Say whether parts of data are UTF-8."),
    FAST(swap_field, "Copy one field of many rows, in this machine's byte order."),
    FAST(find_properties, "Find the values of properties in property texts."),
    FAST(split_pairs, "Split property texts into columns of names and values."),
    FAST(split_words, "Split texts at spaces."),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "Hot functions of broker_core, compiled.", -1, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && (PyModule_AddStringConstant(module, "SOURCES", SOURCES) < 0 || add_syncer(module) < 0))
        Py_CLEAR(module);
    return module;
}
