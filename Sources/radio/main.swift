// `ble radio` as a separate program. It takes a fraction of the time that `ble` takes to build, which matters in a
// fresh clone: Scripts/demo and Documentation/Installing.md use it.
import BluetoothCommandLine
import RadioCommand

Radio.main()
