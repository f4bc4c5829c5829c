// One import is enough: types of the layers below are part of the interface of this module.
@_exported import BluetoothATT
@_exported import BluetoothBase
@_exported import BluetoothGAP
@_exported import BluetoothGATT
@_exported import BluetoothSMP
@_exported import BluetoothValues
@_exported import class BluetoothAdapter.AdapterRunner
@_exported import struct BluetoothAdapter.BluetoothError
@_exported import enum BluetoothAdapter.MessageInterruption
@_exported import enum BluetoothAdapter.BondStoreError
@_exported import class BluetoothAdapter.FileBondStore
@_exported import class BluetoothAdapter.MemoryBondStore
@_exported import protocol BluetoothAdapter.BondStore
@_exported import protocol BluetoothHCI.PacketPort
@_exported import struct BluetoothHCI.HCIFaultRates
@_exported import struct BluetoothHCI.HCIFaults
@_exported import struct BluetoothHCI.HCIStatus
@_exported import enum BluetoothHost.ControllerFeature
@_exported import enum BluetoothHost.DisconnectReason
@_exported import enum BluetoothHost.HostFailure
@_exported import enum BluetoothHost.PeriodicSyncEnd
@_exported import struct BluetoothHost.AdvertisingParameters
@_exported import struct BluetoothHost.Bond
@_exported import struct BluetoothHost.ControllerInformation
@_exported import struct BluetoothHost.CurrentConnectionParameters
@_exported import struct BluetoothHCI.LEPHY
@_exported import struct BluetoothHCI.LEPHYOptions
@_exported import struct BluetoothHCI.LEPHYs
@_exported import struct BluetoothHCI.PathLossZone
@_exported import struct BluetoothHost.ExtendedAdvertising
@_exported import struct BluetoothHost.PeriodicAdvertiser
@_exported import struct BluetoothHost.PeriodicAdvertising
@_exported import struct BluetoothHost.PeriodicSubeventData
@_exported import struct BluetoothHost.PeriodicSubevents
@_exported import struct BluetoothHost.PeriodicSyncInformation
@_exported import struct BluetoothHost.PeriodicSyncParameters
@_exported import struct BluetoothHost.GenericAccess
@_exported import struct BluetoothHost.HostConfiguration
@_exported import struct BluetoothHost.LinkPHYs
@_exported import struct BluetoothHost.LinkTransmitPower
@_exported import struct BluetoothHost.OutOfBandRecord
@_exported import struct BluetoothHost.PairRequest
@_exported import struct BluetoothUsers.PairingOutcome
@_exported import struct BluetoothHost.PathLossReport
@_exported import struct BluetoothHost.PathLossThresholds
@_exported import struct BluetoothHost.ScanParameters
@_exported import struct BluetoothHost.SecurityConfiguration
@_exported import struct BluetoothHost.TransmitPowerChange
@_exported import enum BluetoothL2CAP.ChannelEnd
@_exported import enum BluetoothL2CAP.ChannelOpeningFailure
@_exported import enum BluetoothL2CAP.ChannelReconfigurationFailure
@_exported import enum BluetoothL2CAP.ChannelViolation
@_exported import struct BluetoothHost.ChannelInformation
@_exported import struct BluetoothHost.ChannelRequirement
@_exported import struct BluetoothL2CAP.AcceptableConnectionParameters
@_exported import struct BluetoothL2CAP.ChannelParameters
@_exported import struct BluetoothL2CAP.CreditBasedConnectionResult
@_exported import struct BluetoothL2CAP.CreditBasedReconfigureResult
@_exported import struct HCITransport.TransportError
@_exported import enum HCITransport.TransportName
