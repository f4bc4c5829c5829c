/// A file that relies on the imports of an umbrella header.
struct Sample {
    let date: Date
    let value: Data
    let source: UUID
}
