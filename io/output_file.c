/* output_file.c: temporary files, the rename, and comparison of paths. */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io_base.h"

/* The length of the folder part of a path, its last slash included; 0 without one. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* folder(path) + name, allocated. */
static char *beside(const char *path, const char *name) {
    const size_t folder = name[0] == '/' ? 0 : folder_length(path), length = strlen(name);
    char *joined = malloc(folder + length + 1);
    if (joined == NULL) return NULL;
    memcpy(joined, path, folder);
    memcpy(joined + folder, name, length + 1);
    return joined;
}

/* The path with symbolic links followed, even a dangling one (which realpath cannot do); NULL with errno. */
static char *follow_links(const char *path) {
    enum { MOST_LINKS = 40, LONGEST = 4096 };
    char *current = strdup(path);
    for (int i = 0; current != NULL && i < MOST_LINKS; i++) {
        char link[LONGEST + 1];
        const ssize_t length = readlink(current, link, LONGEST);
        if (length < 0) return current;
        link[length] = '\0';
        char *next = beside(current, link);
        free(current);
        current = next;
    }
    if (current != NULL) errno = ELOOP;
    free(current);
    return NULL;
}

/* Creates a new file in the target's folder. Returns its descriptor and path, or -1 with errno. Plain open() gives the
 * permissions that the umask and the folder's access control list require; mkstemp would not. */
static int create_temporary(const char *target, char **path) {
    enum { ATTEMPTS = 1000 };
    static const char pattern[] = ".tessera-%ld-%d.tmp";
    for (int i = 0; i < ATTEMPTS; i++) {
        char name[64];
        snprintf(name, sizeof name, pattern, (long)getpid(), i);
        *path = beside(target, name);
        if (*path == NULL) return -1;
        const int descriptor = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0) return descriptor;
        free(*path);
        *path = NULL;
        if (errno != EEXIST) return -1;
    }
    return -1;
}

/* Opens the file that the stream will write. Returns a descriptor, or -1 with errno. */
static int open_descriptor(ts_output_file *file) {
    if (strcmp(file->path, "/dev/stdout") == 0) {
        fflush(stdout);
        return dup(STDOUT_FILENO);
    }
    /* A device or pipe is opened by the name given: /dev/fd/N may be a link that names no file. */
    struct stat status;
    const bool exists = stat(file->path, &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) return open(file->path, O_WRONLY | O_CLOEXEC);
    if (!exists && errno != ENOENT) return -1;
    file->target = follow_links(file->path);
    if (file->target == NULL || (exists && access(file->target, W_OK) != 0)) return -1;
    const char *name = file->target + folder_length(file->target);
    if (*name == '\0') {
        errno = *file->target == '\0' ? ENOENT : EISDIR;
        return -1;
    }
    const int descriptor = create_temporary(file->target, &file->temporary_path);
    if (descriptor >= 0 && exists && fchmod(descriptor, status.st_mode & 0777) != 0) {
        const int reason = errno;
        close(descriptor);
        errno = reason;
        return -1;
    }
    return descriptor;
}

bool ts_output_open(const char *path, ts_output_file *file, ts_io_error *error) {
    *file = (ts_output_file){.path = strdup(path)};
    if (file->path == NULL) return ts_io_fail_memory(error, path);
    const int descriptor = open_descriptor(file);
    if (descriptor >= 0) {
        file->stream = fdopen(descriptor, "wb");
        if (file->stream != NULL) return true;
    }
    const int reason = errno;
    if (descriptor >= 0) close(descriptor);
    ts_output_abandon(file);
    return ts_io_fail(error, path, "%s", strerror(reason));
}

/* 0, or the errno of a write that failed. */
static int flush_reason(const ts_output_file *file) {
    if (ferror(file->stream)) {
        /* An earlier write failed and its errno is lost; another write to the same device should fail in the same way.
         */
        return write(fileno(file->stream), "", 1) < 0 ? errno : EIO;
    }
    if (fflush(file->stream) != 0) return errno;
    if (file->temporary_path != NULL && fsync(fileno(file->stream)) != 0) return errno;
    return 0;
}

/* Makes the rename survive a power cut, if the folder can be opened. The new file is complete and in place by now, so a
 * failure is not reported. */
static void sync_folder(const char *target) {
    char *folder = beside(target, ".");
    const int descriptor = folder == NULL ? -1 : open(folder, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
    free(folder);
}

bool ts_output_commit(ts_output_file *file, ts_io_error *error) {
    int reason = flush_reason(file);
    if (fclose(file->stream) != 0 && reason == 0) reason = errno;
    file->stream = NULL;
    if (reason == 0 && file->temporary_path != NULL) {
        if (rename(file->temporary_path, file->target) == 0) {
            free(file->temporary_path);
            file->temporary_path = NULL;
            sync_folder(file->target);
        } else {
            reason = errno;
        }
    }
    if (reason != 0) ts_io_fail(error, file->path, "%s", strerror(reason));
    ts_output_abandon(file);
    return reason == 0;
}

void ts_output_abandon(ts_output_file *file) {
    if (file->stream != NULL) fclose(file->stream);
    if (file->temporary_path != NULL) unlink(file->temporary_path);
    free(file->temporary_path);
    free(file->target);
    free(file->path);
    *file = (ts_output_file){0};
}

/* The status of the folder that holds `target`; false if it cannot be found. */
static bool folder_status(const char *target, struct stat *status) {
    char *folder = beside(target, "");
    const bool found = folder != NULL && stat(*folder == '\0' ? "." : folder, status) == 0;
    free(folder);
    return found;
}

bool ts_output_same(const char *a, const char *b) {
    struct stat of_a, of_b;
    if (stat(a, &of_a) == 0 && stat(b, &of_b) == 0)
        return S_ISREG(of_a.st_mode) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    char *target_a = follow_links(a), *target_b = follow_links(b);
    bool same = target_a != NULL && target_b != NULL;
    same = same && strcmp(target_a + folder_length(target_a), target_b + folder_length(target_b)) == 0;
    same = same && folder_status(target_a, &of_a) && folder_status(target_b, &of_b);
    same = same && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    free(target_a);
    free(target_b);
    return same;
}
