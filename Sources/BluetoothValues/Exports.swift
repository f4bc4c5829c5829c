// What the signatures of this module name, and what a type of one's own is coded with.
@_exported import struct BluetoothBase.BluetoothUUID
@_exported import struct BluetoothBase.ByteReader
@_exported import struct BluetoothBase.ByteWriter
@_exported import struct BluetoothBase.DecodingFailure
@_exported import struct BluetoothBase.DeviceAddress
