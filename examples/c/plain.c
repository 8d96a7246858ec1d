/* usage: plain KEY [SECONDS]
 *
 * Starts a countdown, or finds it running, and waits for its end, with nothing but the C library:
 *
 *     cc -o plain plain.c
 *
 * The countdown belongs to the daemon: stop this program and run it again, and the countdown is still running. If the
 * daemon restarts, the program waits again; the daemon keeps ends, so none is missed. */

#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* No reply of the daemon is longer, with its NUL. */
#define REPLY_BYTES (128 * 1024)

static char reply[REPLY_BYTES];

/* JSON: the end of a string, from its first quotation mark on. */
static const char *string_end(const char *text) {
        for (text++; *text && *text != '"'; text++)
                if (*text == '\\' && text[1])
                        text++;
        return *text ? text + 1 : text;
}

static const char *skip_space(const char *text) {
        return text + strspn(text, " \t\r\n");
}

/* The end of a value. */
static const char *value_end(const char *text) {
        int depth = 0;

        do {
                if (*text == '"') {
                        text = string_end(text);
                        continue;
                }
                if (*text == '{' || *text == '[')
                        depth++;
                else if ((*text == '}' || *text == ']') && --depth < 0)
                        return text;
                else if (*text == ',' && depth == 0)
                        return text;
                if (*text)
                        text++;
        } while (*text && (depth > 0 || strchr(",}]", *text) == NULL));
        return text;
}

/* The value of a member of an object; NULL if there is none. */
static const char *member(const char *object, const char *name) {
        size_t length = strlen(name);

        if (!object || *object != '{')
                return NULL;
        for (object = skip_space(object + 1); *object == '"';) {
                const char *end = string_end(object), *value = skip_space(end);

                if (*value != ':')
                        return NULL;
                value = skip_space(value + 1);
                if ((size_t)(end - object) == length + 2 && strncmp(object + 1, name, length) == 0)
                        return value;
                object = skip_space(value_end(value));
                if (*object == ',')
                        object = skip_space(object + 1);
        }
        return NULL;
}

/* Whether a value is this string. */
static int is(const char *value, const char *text) {
        size_t length = strlen(text);

        return value && *value == '"' && strncmp(value + 1, text, length) == 0 && value[length + 1] == '"';
}

static void print_quoted(FILE *file, const char *text) {
        fputc('"', file);
        for (; *text; text++) {
                if ((unsigned char)*text < ' ')
                        fprintf(file, "\\u%04x", (unsigned int)*text);
                else
                        fprintf(file, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
        }
        fputc('"', file);
}

static int connect_to_daemon(const char *path) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int daemon = socket(AF_UNIX, SOCK_STREAM, 0);

        memcpy(address.sun_path, path, strlen(path) + 1);
        if (daemon >= 0 && connect(daemon, (struct sockaddr *)&address, sizeof(address)) < 0) {
                close(daemon);
                return -1;
        }
        return daemon;
}

/* Makes a call, and reads its reply, on a connection of its own. Returns 0 if there is none: the call may have been made. */
static int call(const char *path, const char *message, size_t length) {
        size_t count = 0;
        int daemon = connect_to_daemon(path);

        if (daemon < 0)
                return 0;
        while (length > 0) {
                /* A daemon that is gone must not end this program with SIGPIPE. */
                ssize_t sent = send(daemon, message, length, MSG_NOSIGNAL);
                if (sent <= 0)
                        break;
                message += sent;
                length -= (size_t)sent;
        }
        do {
                ssize_t received = recv(daemon, reply + count, sizeof(reply) - count, 0);
                if (received <= 0) {
                        close(daemon);
                        return 0;
                }
                count += (size_t)received;
        } while (reply[count - 1] != '\0' && count < sizeof(reply));
        close(daemon);
        reply[sizeof(reply) - 1] = '\0';
        return 1;
}

/* Calls a method with the key, again and again while the daemon is away or cannot open its store. Returns the error, NULL
 * if there is none. */
static const char *call_patiently(const char *path, const char *method, const char *key, double seconds) {
        struct timespec pause = {.tv_sec = 0, .tv_nsec = 100000000};
        char *message = NULL;
        size_t length = 0;
        FILE *file = open_memstream(&message, &length);

        if (!file)
                abort();
        fprintf(file, "{\"method\":\"io.countdownd.%s\",\"parameters\":{\"key\":", method);
        print_quoted(file, key);
        if (seconds > 0)
                fprintf(file, ",\"durationUSec\":%lld", (long long)(seconds * 1000000));
        fprintf(file, "}}%c", '\0');
        fclose(file);
        while (!call(path, message, length) || is(member(reply, "error"), "io.countdownd.StorageFailed")) {
                fprintf(stderr, "no daemon; trying again\n");
                nanosleep(&pause, NULL);
                if (pause.tv_sec < 16) { /* up to half a minute, more or less */
                        pause.tv_sec = pause.tv_sec * 2 + pause.tv_nsec / 500000000;
                        pause.tv_nsec = pause.tv_nsec * 2 % 1000000000;
                }
        }
        free(message);
        return member(reply, "error");
}

int main(int argc, char *argv[]) {
        const char *named = getenv("COUNTDOWND_SOCKET"), *directory = getenv("XDG_RUNTIME_DIR");
        const char *parameters, *value, *error;
        double seconds = argc > 2 ? atof(argv[2]) : 60;
        char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
        int length;

        if (argc < 2 || (!named && !directory) || seconds <= 0 || seconds > 3e9) {
                fprintf(stderr, "usage: %s KEY [SECONDS], with XDG_RUNTIME_DIR or COUNTDOWND_SOCKET set\n", argv[0]);
                return EXIT_FAILURE;
        }
        length = snprintf(path, sizeof(path), "%s%s", named ? named : directory, named ? "" : "/countdownd/io.countdownd");
        if (length < 0 || (size_t)length >= sizeof(path)) {
                fprintf(stderr, "the path of the socket is too long\n");
                return EXIT_FAILURE;
        }
        setvbuf(stdout, NULL, _IOLBF, 0);

        do {
                error = call_patiently(path, "Start", argv[1], seconds);
                if (error)
                        break;
                parameters = member(reply, "parameters");
                value = member(member(parameters, "countdown"), "remainingUSec");
                printf("%s: %s, %.0f s left\n", argv[1], is(member(parameters, "outcome"), "started") ? "started" : "attached",
                       value ? atof(value) / 1000000 : 0);
                error = call_patiently(path, "Wait", argv[1], 0);
                /* If the daemon has lost its store, the countdown is unknown: begin again. */
        } while (is(error, "io.countdownd.NoSuchCountdown"));
        if (error) {
                fprintf(stderr, "%.*s\n", (int)(string_end(error) - error), error);
                return EXIT_FAILURE;
        }
        value = member(member(member(reply, "parameters"), "countdown"), "state");
        printf("%s: %s\n", argv[1], is(value, "cancelled") ? "cancelled" : "finished");
        return EXIT_SUCCESS;
}
