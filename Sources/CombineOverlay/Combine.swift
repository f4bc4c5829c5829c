// Combine is Apple's; OpenCombine is a reimplementation. Under this name files with `import Combine` compile unchanged:
// `ObservableObject`, `@Published`, `sink`, `receive(on: DispatchQueue.main)` and the rest.
//
// Not by way of OpenCombineShim, which takes in a module of the name `Combine` where it finds one.
@_exported import OpenCombine
@_exported import OpenCombineDispatch
@_exported import OpenCombineFoundation
