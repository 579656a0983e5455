/* A thread that waits for the disk and never for the interpreter: asked to begin while the loop's thread is at work, it
 * begins at once, and tells the loop through a descriptor when the disk is done. */
#include "native.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#if defined(__APPLE__)
#define fdatasync fsync
#endif

typedef struct {
    PyObject_HEAD
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked;
    int is_asked, is_closing;
    int is_running, is_out; /* the thread was started; an answer is still to be taken */
    int descriptor;         /* of the file to be synced, owned while a sync is out */
    int ended[2];           /* a pipe: the thread writes a byte when it is done */
    int is_done;            /* set by the thread, behind failure and took */
    int failure;            /* errno of the last sync, 0 */
    long long took;         /* ns */
} Syncer;

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void sync_one(Syncer *self)
{
    long long begin = now_ns();
    int failure = 0;
    while (fdatasync(self->descriptor) < 0 && (failure = errno) == EINTR)
        failure = 0;
    close(self->descriptor);
    self->took = now_ns() - begin;
    self->failure = failure;
    /* Before the byte: after it, `end` may return and the next sync begin. */
    __atomic_store_n(&self->is_done, 1, __ATOMIC_RELEASE);
    while (write(self->ended[1], "", 1) < 0 && errno == EINTR)
        ;
}

static void *serve(void *argument)
{
    Syncer *self = argument;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        while (!self->is_asked && !self->is_closing)
            pthread_cond_wait(&self->asked, &self->lock);
        if (!self->is_asked)
            break;
        self->is_asked = 0;
        pthread_mutex_unlock(&self->lock);
        sync_one(self);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static PyObject *syncer_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    if (!PyArg_ParseTuple(args, ""))
        return NULL;
    Syncer *self = (Syncer *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->ended[0] = self->ended[1] = -1;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->asked, NULL);
    if (pipe(self->ended) < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        Py_DECREF(self);
        return NULL;
    }
    for (int end = 0; end < 2; end++)
        fcntl(self->ended[end], F_SETFD, FD_CLOEXEC);
    int failure = pthread_create(&self->thread, NULL, serve, self);
    if (failure != 0) {
        errno = failure;
        PyErr_SetFromErrno(PyExc_OSError);
        Py_DECREF(self);
        return NULL;
    }
    self->is_running = 1;
    return (PyObject *)self;
}

static void ask(Syncer *self, int *what)
{
    pthread_mutex_lock(&self->lock);
    *what = 1;
    pthread_cond_signal(&self->asked);
    pthread_mutex_unlock(&self->lock);
}

static PyObject *syncer_begin(Syncer *self, PyObject *path)
{
    if (!self->is_running || self->is_out) {
        PyErr_SetString(PyExc_RuntimeError, self->is_out ? "a sync is under way" : "the syncer is closed");
        return NULL;
    }
    PyObject *encoded;
    if (!PyUnicode_FSConverter(path, &encoded))
        return NULL;
    self->descriptor = open(PyBytes_AS_STRING(encoded), O_RDWR | O_CLOEXEC);
    Py_DECREF(encoded);
    if (self->descriptor < 0)
        return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
    self->is_out = 1;
    __atomic_store_n(&self->is_done, 0, __ATOMIC_RELAXED);
    ask(self, &self->is_asked);
    Py_RETURN_NONE;
}

static PyObject *syncer_end(Syncer *self, PyObject *nothing)
{
    if (!self->is_out) {
        PyErr_SetString(PyExc_RuntimeError, "no sync is under way");
        return NULL;
    }
    char byte;
    ssize_t size;
    struct pollfd end = {self->ended[0], POLLIN, 0};
    Py_BEGIN_ALLOW_THREADS;
    /* The loop that looks at the descriptor may have made it one that does not wait. */
    while ((size = read(self->ended[0], &byte, 1)) < 0 && (errno == EINTR || errno == EAGAIN))
        poll(&end, 1, -1);
    Py_END_ALLOW_THREADS;
    if (size < 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    self->is_out = 0;
    if (self->failure != 0) {
        errno = self->failure;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    return PyLong_FromLongLong(self->took);
}

static PyObject *syncer_is_done(Syncer *self, PyObject *nothing)
{
    return PyBool_FromLong(self->is_out && __atomic_load_n(&self->is_done, __ATOMIC_ACQUIRE));
}

static PyObject *syncer_fileno(Syncer *self, PyObject *nothing)
{
    return PyLong_FromLong(self->ended[0]);
}

static void stop(Syncer *self)
{
    if (self->is_running) {
        self->is_running = 0;
        Py_BEGIN_ALLOW_THREADS;
        ask(self, &self->is_closing);
        pthread_join(self->thread, NULL);
        Py_END_ALLOW_THREADS;
    }
    /* Also those of an object whose thread could not start. */
    for (int end = 0; end < 2; end++)
        if (self->ended[end] >= 0) {
            close(self->ended[end]);
            self->ended[end] = -1;
        }
}

static PyObject *syncer_close(Syncer *self, PyObject *nothing)
{
    stop(self);
    Py_RETURN_NONE;
}

static void syncer_dealloc(Syncer *self)
{
    PyTypeObject *type = Py_TYPE(self);
    stop(self);
    pthread_cond_destroy(&self->asked);
    pthread_mutex_destroy(&self->lock);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"begin", (PyCFunction)syncer_begin, METH_O, "Start syncing the data of a file."},
    {"end", (PyCFunction)syncer_end, METH_NOARGS, "Return the ns it took, waiting if necessary."},
    {"is_done", (PyCFunction)syncer_is_done, METH_NOARGS, "Whether `end` would return at once."},
    {"fileno", (PyCFunction)syncer_fileno, METH_NOARGS, "A descriptor that can be read from when it is done."},
    {"close", (PyCFunction)syncer_close, METH_NOARGS, "End the thread after its current sync."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, syncer_new},
    {Py_tp_dealloc, syncer_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "A thread that brings one file after another to the disk."},
    {0, NULL},
};

static PyType_Spec spec = {"broker_core.native._native.Syncer", sizeof(Syncer), 0, Py_TPFLAGS_DEFAULT, slots};

int add_syncer(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&spec);
    int failed = type == NULL || PyModule_AddObjectRef(module, "Syncer", type) < 0;
    Py_XDECREF(type);
    return failed ? -1 : 0;
}
