// operations NAME COUNT     performs an operation, for measurement under Valgrind
// operations list           lists the operations and their limits: see Operation.row
// operations round-trips    counts the requests of a discovery, with 0, 1 and 2 descriptors in each service
// operations notify COUNT   sends notifications end to end, and prints how many arrive per second
// operations idle SECONDS   counts the simulation steps on an idle link
import BluetoothBase

let arguments = CommandLine.arguments.dropFirst()
let count = arguments.dropFirst().first.flatMap { Int($0) } ?? 1000
switch arguments.first {
case "list":
    for operation in Operation.allCases { print(operation.row) }
case "round-trips":
    print((0...2).map { "\(Discovery(descriptors: $0).roundTrips)" }.joined(separator: " "))
case "idle":
    print(EndToEnd.idle(for: .seconds(count)))
case "notify":
    var arrived = 0
    let time = ContinuousClock().measure { arrived = EndToEnd.notify(count) }
    guard arrived == count else { fatalError("only \(arrived) of \(count) arrived") }
    print(Int(Double(count) / (Double(time.nanoseconds) / 1e9)))
case let name?:
    guard let operation = Operation(rawValue: name) else { fatalError("there is no operation \(name)") }
    print(operation.run(count))
case nil:
    fatalError("which operation?")
}
