// faces run NAME COUNT [ROUND]
//     does something so many times through the asynchronous API or through Core Bluetooth, with values of 20 octets, and prints
//     what that took. BLUETOOTH_TRANSPORT says where the controller is. Of notifications the peer sends ROUND at a time.
// faces list
//     what there is: see Subject.row
// faces row NAME INSTRUCTIONS MALLOCS <RUNS
//     a row of the table, from what one operation costs and a line for each run; ends with status 1, and says why, where that
//     is more than is allowed
// faces peer KIND <RUNS
//     a row of the table of what the peer can do
import Foundation

/// What ends with the process does not have to be ended by it.
var application: AnyObject?

let arguments = CommandLine.arguments.dropFirst().map { $0 }
switch arguments.first {
case "list":
    for subject in Subject.all { print(subject.row) }
case "run" where arguments.count >= 3:
    let round = arguments.dropFirst(3).first
    run(subject(arguments[1]), count: number(arguments[2]), round: round.map(number))
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
default:
    fail("usage: faces run NAME COUNT [ROUND] | faces list | faces row NAME INSTRUCTIONS MALLOCS | faces peer KIND")
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

func run(_ subject: Subject, count: Int, round: Int?) {
    guard let transport = ProcessInfo.processInfo.environment["BLUETOOTH_TRANSPORT"]
    else { fail("BLUETOOTH_TRANSPORT is not set") }
    let work = Workload(kind: subject.kind, count: count, round: round ?? count)
    // The main thread only waits. An asynchronous main function would give it up, with which valgrind cannot cope.
    let end = DispatchSemaphore(value: 0)
    switch (subject.face, subject.kind) {
    case (.async, _):
        Task.detached {
            do { try await AsyncFace.run(work, on: transport) } catch { fail("\(error)") }
            end.signal()
        }
    case (.delegate, .notify): application = DelegatePeripheral(work, onEnd: end)
    case (.delegate, _): application = DelegateCentral(work, onEnd: end)
    }
    end.wait()
}
