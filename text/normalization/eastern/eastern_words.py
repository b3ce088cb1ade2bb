"""Words and formats with which Japanese and Mandarin read numbers, signs and units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EasternWords:
    """Words and formats of one of the two languages."""

    japanese: bool
    """True for Japanese, False for Mandarin, where their grammar differs."""
    zero: str
    point: str
    minus: str
    large: tuple[str, ...]
    """Names of the powers of 10,000."""
    percent: str
    """Format of a percentage, with `{}` for the number."""
    currencies: Mapping[str, str]
    units: Mapping[str, str]
    date: str
    clock: str
    half_past: str
    to: str
    fraction: str
    signs: Mapping[str, str]
    less: str
    """Spoken minus sign between two numbers."""
    phone_one: str
    """Spoken digit 1 in telephone numbers."""


JAPANESE = EasternWords(
    japanese=True,
    zero="零",
    point="点",
    minus="マイナス",
    large=("", "万", "億", "兆"),
    percent="{}パーセント",
    currencies={"$": "ドル", "€": "ユーロ", "£": "ポンド", "¥": "円", "￥": "円"},
    units={
        "km/h": "キロメートル毎時",
        "km": "キロメートル",
        "cm": "センチメートル",
        "mm": "ミリメートル",
        "m": "メートル",
    }
    | {
        "kg": "キログラム",
        "mg": "ミリグラム",
        "g": "グラム",
        "ml": "ミリリットル",
        "L": "リットル",
        "°C": "度",
        "℃": "度",
    }
    | {"㎡": "平方メートル", "m²": "平方メートル", "GB": "ギガバイト", "MB": "メガバイト", "kW": "キロワット"}
    | {"TB": "テラバイト", "Hz": "ヘルツ", "m/s": "メートル毎秒", "t": "トン"},
    date="{year}年{month}月{day}日",
    clock="{hour}時{minute}分",
    half_past="{hour}時",
    to="から",
    fraction="{below}分の{above}",
    signs={
        "+": "たす",
        "=": "は",
        "×": "かける",
        "÷": "わる",
        "@": "アットマーク",
        ".": "ドット",
        "/": "スラッシュ",
        "-": "ハイフン",
    },
    less="ひく",
    phone_one="一",
)
MANDARIN = EasternWords(
    japanese=False,
    zero="零",
    point="点",
    minus="负",
    large=("", "万", "亿", "兆"),
    percent="百分之{}",
    currencies={"US$": "美元", "HK$": "港元", "$": "美元", "€": "欧元", "£": "英镑", "¥": "元", "￥": "元"}
    | {"RMB": "元", "CNY": "元", "人民币¥": "元"},
    units={
        "km/h": "公里每小时",
        "km": "公里",
        "cm": "厘米",
        "mm": "毫米",
        "m": "米",
        "kg": "公斤",
        "mg": "毫克",
        "g": "克",
    }
    | {"ml": "毫升", "L": "升", "°C": "摄氏度", "℃": "摄氏度", "㎡": "平方米", "m²": "平方米", "kW": "千瓦"}
    | {"GB": "吉字节", "MB": "兆字节", "TB": "太字节", "Hz": "赫兹", "cl": "厘升", "m/s": "米每秒"},
    date="{year}年{month}月{day}日",
    clock="{hour}点{minute}分",
    half_past="{hour}点",
    to="到",
    fraction="{below}分之{above}",
    signs={"+": "加", "=": "等于", "×": "乘以", "÷": "除以", "@": "艾特", ".": "点", "/": "斜杠", "-": "杠"},
    less="减",
    phone_one="幺",
)
