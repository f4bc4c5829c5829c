// Preloaded into a program that uses libdbus: names each call whose reply arrived before the program asked to be
// notified of it. libdbus then never notifies the program, because dbus_pending_call_set_notify does not check for a
// reply.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

typedef struct DBusConnection DBusConnection;
typedef struct DBusMessage DBusMessage;
typedef struct DBusPendingCall DBusPendingCall;
typedef void (*Function)(DBusPendingCall *, void *);
typedef void (*Free)(void *);

static _Thread_local const char *member;

unsigned dbus_connection_send_with_reply(
    DBusConnection *connection, DBusMessage *message, DBusPendingCall **call, int timeout) {
    unsigned (*send)(DBusConnection *, DBusMessage *, DBusPendingCall **, int) =
        dlsym(RTLD_NEXT, "dbus_connection_send_with_reply");
    const char *(*get_member)(DBusMessage *) = dlsym(RTLD_NEXT, "dbus_message_get_member");
    member = get_member(message);
    return send(connection, message, call, timeout);
}

unsigned dbus_pending_call_set_notify(DBusPendingCall *call, Function function, void *data, Free release) {
    unsigned (*set)(DBusPendingCall *, Function, void *, Free) = dlsym(RTLD_NEXT, "dbus_pending_call_set_notify");
    unsigned (*completed)(DBusPendingCall *) = dlsym(RTLD_NEXT, "dbus_pending_call_get_completed");
    unsigned result = set(call, function, data, release);
    if (completed(call)) fprintf(stderr, "late: %s\n", member);
    return result;
}
