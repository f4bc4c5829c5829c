/// Yields to the work that a test waits for, if no event reports its end: first to tasks that are ready, then to other
/// threads. Without the latter a test would take the processor that those need.
package func giveWay(_ round: Int) async {
    if round < 32 { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(1)) }
}
