// The types in this module's signatures, and those needed to add a value type.
@_exported import struct BluetoothBase.BluetoothUUID
@_exported import struct BluetoothBase.ByteReader
@_exported import struct BluetoothBase.ByteWriter
@_exported import struct BluetoothBase.DecodingFailure
@_exported import struct BluetoothBase.DeviceAddress
