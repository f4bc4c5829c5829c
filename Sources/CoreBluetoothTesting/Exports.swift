// The tests of an app use the app's module and its types, and the radio that `TestRadio` contains.
@_exported import CoreBluetooth
@_exported import class VirtualRadio.VirtualRadio
