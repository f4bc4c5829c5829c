// faces run NAME COUNT [ROUND [timed]]
//     performs COUNT operations through the asynchronous API or through Core Bluetooth, with values of 20 octets or
//     blocks of 1,024, and prints their cost. BLUETOOTH_TRANSPORT names the controller. The peer sends ROUND
//     notifications at a time. With `timed`, also prints the median time that a notification took to arrive, and the
//     99th percentile, in microseconds.
// faces list
//     lists the subjects: see Subject.row
// faces row NAME INSTRUCTIONS MALLOCS <RUNS
//     prints a row of the table, from the cost of one operation and one line per run. If a limit is exceeded, reports
//     it and exits with status 1.
// faces pace FACE RATE INSTRUCTIONS MALLOCS <RUNS, faces pace-others RATE <RUNS
//     print rows of the table of notifications that arrive one at a time. A row fails like those above.
// faces peer KIND <RUNS
//     prints a row of the table of peer capacity
import Foundation

/// Keeps the delegate alive until the process exits.
var application: AnyObject?

let arguments = CommandLine.arguments.dropFirst().map { $0 }
switch arguments.first {
case "list":
    for subject in Subject.all { print(subject.row) }
case "run" where arguments.count >= 3:
    let round = arguments.dropFirst(3).first
    let isTimed = arguments.dropFirst(4).first == "timed"
    run(subject(arguments[1]), count: number(arguments[2]), round: round.map(number), isTimed: isTimed)
case "row" where arguments.count == 4:
    guard let mallocs = Double(arguments[3]),
        let row = Row(
            subject(arguments[1]), instructions: number(arguments[2]), mallocs: mallocs, runs: readRuns())
    else { fail("there is nothing to make a row of") }
    print(row.text)
    for failure in row.failures { warn("\(row.subject.name) \(failure)") }
    exit(row.failures.isEmpty ? 0 : 1)
case "peer" where arguments.count == 2:
    guard let kind = Workload.Kind(rawValue: arguments[1]), let row = readRuns().peerRow(kind)
    else { fail("there is nothing to make a row of") }
    print(row)
case "pace" where arguments.count == 5:
    guard let face = Subject.Face(rawValue: arguments[1]), let mallocs = Double(arguments[4]),
        let row = Pace(
            face: face, rate: number(arguments[2]), instructions: number(arguments[3]), mallocs: mallocs,
            runs: readRuns()
        ).row
    else { fail("there is nothing to make a row of") }
    print(row.text)
    for failure in row.failures { warn("\(face), \(arguments[2]) a second, \(failure)") }
    exit(row.failures.isEmpty ? 0 : 1)
case "pace-others" where arguments.count == 2:
    for row in Pace.others(number(arguments[1]), readRuns()) { print(row) }
default:
    fail(
        "usage: faces run NAME COUNT [ROUND [timed]] | list | row NAME INSTRUCTIONS MALLOCS | peer KIND"
            + " | pace FACE RATE INSTRUCTIONS MALLOCS | pace-others RATE")
}

func readRuns() -> [Run] { AnyIterator { readLine() }.compactMap { Run($0) } }

func subject(_ name: String) -> Subject {
    guard let subject = Subject.all.first(where: { $0.name == name }) else { fail("there is no \(name)") }
    return subject
}

func number(_ text: String) -> Int {
    guard let number = Int(text), number > 0 else { fail("\(text) is not a number above 0") }
    return number
}

func run(_ subject: Subject, count: Int, round: Int?, isTimed: Bool) {
    guard let transport = ProcessInfo.processInfo.environment["BLUETOOTH_TRANSPORT"]
    else { fail("BLUETOOTH_TRANSPORT is not set") }
    let work = Workload(
        kind: subject.kind, count: count, scans: subject.scans, round: round ?? count, isTimed: isTimed)
    // The main thread only waits. An asynchronous `main` would end the main thread, which Valgrind does not support.
    let end = DispatchSemaphore(value: 0)
    switch (subject.face, subject.kind) {
    case (.async, _):
        Task.detached {
            do { try await AsyncFace.run(work, on: transport) } catch { fail("\(error)") }
            end.signal()
        }
    case (.delegate, .notify), (.delegate, .notifySingly): application = DelegatePeripheral(work, onEnd: end)
    case (.delegate, .report): application = DelegateScanners(work, onEnd: end)
    case (.delegate, _): application = DelegateCentral(work, onEnd: end)
    }
    end.wait()
}
