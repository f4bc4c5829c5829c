// A plugin for qemu-user that counts the instructions of a program, in all threads together. When the program ends, it
// writes the number to the file that $INSTRUCTIONS names.
//
// Debian's QEMU lacks the header, so the declarations of QEMU's plugin API, version 1, are repeated here.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_info;
struct qemu_plugin_tb;
int qemu_plugin_version = 1;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*call)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, void (*call)(unsigned, void *), int flags, void *value);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*call)(qemu_plugin_id_t, void *), void *value);

static _Atomic uint64_t instructions;

static void executed(unsigned processor, void *count) {
    (void)processor;
    instructions += (uintptr_t)count;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, (void *)qemu_plugin_tb_n_insns(block));
}

static void ended(qemu_plugin_id_t id, void *value) {
    (void)id, (void)value;
    const char *path = getenv("INSTRUCTIONS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%" PRIu64 "\n", (uint64_t)instructions);
    fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int count, char **arguments) {
    (void)info, (void)count, (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
