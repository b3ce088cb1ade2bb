"""Words and conventions of the languages that `text.normalization.western.western` normalises, one `Locale` each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905

MONTH_NAMES = {name: name for name in _MONTHS} | {name[:3]: name for name in _MONTHS} | {"Sept": "September"}
DAY_NAMES = {name[:3]: name for name in _DAYS} | {"Tues": "Tuesday", "Weds": "Wednesday", "Thur": "Thursday"}
DAY_NAMES["Thurs"] = "Thursday"

MONTH = rf"(?:{'|'.join(sorted(MONTH_NAMES, key=len, reverse=True))})"
DAY = rf"(?:{'|'.join(sorted(DAY_NAMES, key=len, reverse=True))})"


def month_name(number: int) -> str:
    return _MONTHS[number - 1]


def pairs(listed: str) -> dict[str, str]:
    """Words by abbreviation, from a list such as `Dr=Doctor;Mr=Mister`."""
    return dict(pair.split("=") for pair in listed.strip().split(";"))


def _forms(listed: str) -> dict[str, tuple[str, str]]:
    named = {sign: names.partition("/") for sign, names in pairs(listed).items()}
    return {sign: (one, many) for sign, (one, _, many) in named.items()}


@dataclass(frozen=True, slots=True)
class Locale:
    """Words, patterns and conventions of one language."""

    numbers: str
    """Language name in num2words."""
    point: str
    """Spoken word for the decimal separator."""
    months: tuple[str, ...]
    date: str
    """Format of a spoken date, with `{day}`, `{month}` and `{year}`."""
    first_day: str
    """Spoken form of the first day of a month."""
    hour: tuple[str, str]
    """Word for "hour" in a time of day: singular, plural."""
    hours_first: bool
    """True if a time names its hours ("14 heures 30"), False if it doesn't ("las 14 y 30")."""
    time_joint: str
    """Word between hours and minutes."""
    percent: str
    per: str
    to: str
    """Word between a range's ends."""
    joint: str
    """Word between units of money and hundredths."""
    signs: Mapping[str, str]
    """Spoken words for single signs in formulas and addresses."""
    currencies: Mapping[str, tuple[str, str]]
    hundredths: tuple[str, str]
    units: Mapping[str, tuple[str, str]]
    abbreviations: Mapping[str, str]
    one: Mapping[str, str]
    """Endings of cardinals before a masculine noun: uno → un."""
    ordinals: str
    """Pattern of ordinals' endings; the group `feminine` matches feminine endings."""
    century: str
    """Pattern of the words before or after a century's Roman numeral; `{numeral}` stands for the numeral."""
    century_ordinal: bool
    """True if centuries are counted with ordinals (XXIe siècle), False for cardinals (siglo XXI)."""
    rulers: str
    """Pattern of rulers' names, after which a Roman numeral is a ruler's number."""
    rulers_ordinal: bool
    feminine: tuple[str, str]
    """Ending of a masculine ordinal, and its replacement in the feminine."""


_UNITS_ES = (
    "m/s=metro por segundo/metros por segundo;TB=terabyte/terabytes;cl=centilitro/centilitros;t=tonelada/toneladas;"
    "km/h=kilómetro por hora/kilómetros por hora;km²=kilómetro cuadrado/kilómetros cuadrados;"
    "m²=metro cuadrado/metros cuadrados;m³=metro cúbico/metros "
    "cúbicos;km=kilómetro/kilómetros;cm=centímetro/centímetros;"
    "mm=milímetro/milímetros;m=metro/metros;kg=kilo/kilos;mg=miligramo/miligramos;g=gramo/gramos;l=litro/litros;"
    "L=litro/litros;ml=mililitro/mililitros;°C=grado Celsius/grados Celsius;°=grado/grados;GB=gigabyte/gigabytes;"
    "MB=megabyte/megabytes;kWh=kilovatio hora/kilovatios hora;kW=kilovatio/kilovatios;W=vatio/vatios;V=voltio/voltios;"
    "Hz=hercio/hercios;kHz=kilohercio/kilohercios;min=minuto/minutos;s=segundo/segundos;h=hora/horas;ha=hectárea/hectáreas"
)
_UNITS_FR = (
    "m/s=mètre par seconde/mètres par seconde;To=téraoctet/téraoctets;cl=centilitre/centilitres;t=tonne/tonnes;"
    "km/h=kilomètre heure/kilomètres heure;km²=kilomètre carré/kilomètres carrés;m²=mètre carré/mètres carrés;"
    "m³=mètre cube/mètres "
    "cubes;km=kilomètre/kilomètres;cm=centimètre/centimètres;mm=millimètre/millimètres;m=mètre/mètres;"
    "kg=kilo/kilos;mg=milligramme/milligrammes;g=gramme/grammes;l=litre/litres;L=litre/litres;ml=millilitre/millilitres;"
    "°C=degré Celsius/degrés Celsius;°=degré/degrés;Go=gigaoctet/gigaoctets;Mo=mégaoctet/mégaoctets;"
    "kWh=kilowattheure/kilowattheures;kW=kilowatt/kilowatts;W=watt/watts;V=volt/volts;Hz=hertz/hertz;kHz=kilohertz/kilohertz;"
    "min=minute/minutes;s=seconde/secondes;ha=hectare/hectares"
)
_UNITS_IT = (
    "m/s=metro al secondo/metri al secondo;TB=terabyte/terabyte;cl=centilitro/centilitri;t=tonnellata/tonnellate;"
    "km/h=chilometro orario/chilometri orari;km²=chilometro quadrato/chilometri quadrati;m²=metro quadrato/metri "
    "quadrati;"
    "m³=metro cubo/metri cubi;km=chilometro/chilometri;cm=centimetro/centimetri;mm=millimetro/millimetri;m=metro/metri;"
    "kg=chilo/chili;mg=milligrammo/milligrammi;g=grammo/grammi;l=litro/litri;L=litro/litri;ml=millilitro/millilitri;"
    "°C=grado Celsius/gradi Celsius;GB=gigabyte/gigabyte;MB=megabyte/megabyte;"
    "kWh=chilowattora/chilowattora;kW=chilowatt/chilowatt;W=watt/watt;V=volt/volt;Hz=hertz/hertz;kHz=chilohertz/chilohertz;"
    "min=minuto/minuti;s=secondo/secondi;ha=ettaro/ettari"
)
_UNITS_PT = (
    "m/s=metro por segundo/metros por segundo;TB=terabyte/terabytes;cl=centilitro/centilitros;t=tonelada/toneladas;"
    "km/h=quilômetro por hora/quilômetros por hora;km²=quilômetro quadrado/quilômetros quadrados;"
    "m²=metro quadrado/metros quadrados;m³=metro cúbico/metros "
    "cúbicos;km=quilômetro/quilômetros;cm=centímetro/centímetros;"
    "mm=milímetro/milímetros;m=metro/metros;kg=quilo/quilos;mg=miligrama/miligramas;g=grama/gramas;l=litro/litros;"
    "L=litro/litros;ml=mililitro/mililitros;°C=grau Celsius/graus Celsius;°=grau/graus;GB=gigabyte/gigabytes;"
    "MB=megabyte/megabytes;kWh=quilowatt-hora/quilowatts-hora;kW=quilowatt/quilowatts;W=watt/watts;V=volt/volts;Hz=hertz/hertz;"
    "min=minuto/minutos;s=segundo/segundos;ha=hectare/hectares"
)

LOCALES: Mapping[str, Locale] = {
    "es": Locale(
        numbers="es",
        point="coma",
        months=(
            "enero",
            "febrero",
            "marzo",
            "abril",
            "mayo",
            "junio",
            "julio",
            "agosto",
            "septiembre",
            "octubre",
            "noviembre",
            "diciembre",
        ),
        date="{day} de {month} de {year}",
        first_day="uno",
        hour=("", ""),
        hours_first=False,
        time_joint="y",
        percent="por ciento",
        per="por",
        to="a",
        joint="con",
        signs={"@": "arroba", ".": "punto", "/": "barra", "-": "guion", "_": "guion bajo", "+": "más", "−": "menos"}
        | {"×": "por", "÷": "entre", "=": "igual a", "&": "y", "<": "menor que", ">": "mayor que"},
        currencies=_forms(
            "€=euro/euros;$=dólar/dólares;£=libra/libras;¥=yen/yenes;EUR=euro/euros;USD=dólar/dólares;"
            "US$=dólar/dólares;CHF=franco suizo/francos suizos"
        ),
        hundredths=("céntimo", "céntimos"),
        units=_forms(_UNITS_ES),
        abbreviations=pairs(
            "C/=calle;c/=calle;s/n=sin número;EE.UU.=Estados Unidos;JJ. OO.=Juegos Olímpicos;JJ.OO.=Juegos Olímpicos;"
            "D.ª=doña;Dª=doña;Dñ.ª=doña;s.=siglo;Pza.=plaza;Ctra.=carretera;Sto.=Santo;Sta.=Santa;Ej.=ejemplo;"
            "Sr.=señor;Sra.=señora;Srta.=señorita;Sres.=señores;Dr.=doctor;Dra.=doctora;D.=don;Dña.=doña;Ud.=usted;Uds.=ustedes;"
            "p. ej.=por "
            "ejemplo;etc.=etcétera;pág.=página;págs.=páginas;n.º=número;núm.=número;avda.=avenida;Avda.=avenida;"
            "EE. UU.=Estados Unidos;a. C.=antes de Cristo;d. C.=después de "
            "Cristo;tel.=teléfono;Tel.=teléfono;Prof.=profesor;"
            "aprox.=aproximadamente;dpto.=departamento;máx.=máximo;mín.=mínimo;vol.=volumen;cap.=capítulo"
        ),
        one={"veintiuno": "veintiún", "uno": "un"},
        ordinals=r"\.?(?:º|(?P<feminine>ª)|er)",
        century=r"\b(?:[Ss]iglos?|s\.) {numeral}\b",
        century_ordinal=False,
        rulers=(
            "Felipe|Carlos|Alfonso|Fernando|Isabel|Juan Carlos|Juan Pablo|Luis|Enrique|Benedicto|Pío|Pedro|Jaime|Sancho"
        ),
        rulers_ordinal=True,
        feminine=("o", "a"),
    ),
    "fr": Locale(
        numbers="fr",
        point="virgule",
        months=(
            "janvier",
            "février",
            "mars",
            "avril",
            "mai",
            "juin",
            "juillet",
            "août",
            "septembre",
            "octobre",
            "novembre",
            "décembre",
        ),
        date="{day} {month} {year}",
        first_day="premier",
        hour=("heure", "heures"),
        hours_first=True,
        time_joint="",
        percent="pour cent",
        per="par",
        to="à",
        joint="et",
        signs={"@": "arobase", ".": "point", "/": "slash", "-": "tiret", "_": "tiret bas", "+": "plus", "−": "moins"}
        | {"×": "fois", "÷": "divisé par", "=": "égale", "&": "et", "<": "inférieur à", ">": "supérieur à"},
        currencies=_forms(
            "€=euro/euros;$=dollar/dollars;£=livre/livres;¥=yen/yens;EUR=euro/euros;USD=dollar/dollars;"
            "CHF=franc suisse/francs suisses"
        ),
        hundredths=("centime", "centimes"),
        units=_forms(_UNITS_FR),
        abbreviations=pairs(
            "M.=monsieur;MM.=messieurs;Mme=madame;Mmes=mesdames;Mlle=mademoiselle;Dr=docteur;Pr=professeur;Me=maître;"
            "p. ex.=par exemple;etc.=et cetera;c.-à-d.=c'est-à-dire;n°=numéro;N°=numéro;av. J.-C.=avant Jésus-Christ;"
            "apr. J.-C.=après Jésus-Christ;tél.=téléphone;Tél.=téléphone;bd=boulevard;env.=environ;chap.=chapitre;"
            "St-=Saint-;Ste-=Sainte-;av.=avenue;Av.=avenue;pl.=place;Bd=boulevard;éd.=édition;vol.=volume;pp.=pages;p.=page"
        ),
        one={},
        ordinals=r"(?:ers?|(?P<feminine>res?)|èmes?|emes?|es?|nde?s?)",
        century=r"{numeral}(?:e|è|ème|ᵉ)s?(?= siècles?\b)",
        century_ordinal=True,
        rulers="Louis|Henri|Charles|François|Napoléon|Philippe|Jean-Paul|Benoît|Pie|Jean|Élisabeth|Guillaume|Clovis",
        rulers_ordinal=False,
        feminine=("premier", "première"),
    ),
    "it": Locale(
        numbers="it",
        point="virgola",
        months=(
            "gennaio",
            "febbraio",
            "marzo",
            "aprile",
            "maggio",
            "giugno",
            "luglio",
            "agosto",
            "settembre",
            "ottobre",
            "novembre",
            "dicembre",
        ),
        date="{day} {month} {year}",
        first_day="primo",
        hour=("", ""),
        hours_first=False,
        time_joint="e",
        percent="per cento",
        per="al",
        to="a",
        joint="e",
        signs={"@": "chiocciola", ".": "punto", "/": "barra", "-": "trattino", "_": "trattino basso", "+": "più"}
        | {"−": "meno", "×": "per", "÷": "diviso", "=": "uguale", "&": "e", "<": "minore di", ">": "maggiore di"},
        currencies=_forms(
            "€=euro/euro;$=dollaro/dollari;£=sterlina/sterline;¥=yen/yen;EUR=euro/euro;USD=dollaro/dollari;"
            "CHF=franco svizzero/franchi svizzeri"
        ),
        hundredths=("centesimo", "centesimi"),
        units=_forms(_UNITS_IT),
        abbreviations=pairs(
            "P.zza=piazza;p.zza=piazza;V.le=viale;v.le=viale;C.so=corso;c.so=corso;avv.=avvocato;ing.=ingegner;dott.=dottor;"
            "dott.ssa=dottoressa;prof.=professor;sig.=signor;sig.ra=signora;geom.=geometra;on.=onorevole;On.=onorevole;"
            "Sig.=signor;Sig.ra=signora;Sig.na=signorina;Sigg.=signori;Dott.=dottor;Dott.ssa=dottoressa;Prof.=professor;"
            "Prof.ssa=professoressa;Avv.=avvocato;Ing.=ingegner;p.es.=per esempio;p. es.=per "
            "esempio;ecc.=eccetera;n.=numero;"
            "pag.=pagina;pagg.=pagine;a.C.=avanti Cristo;d.C.=dopo "
            "Cristo;tel.=telefono;Tel.=telefono;S.=San;vol.=volume;"
            "cap.=capitolo;art.=articolo;ca.=circa"
        ),
        one={"uno": "un"},
        ordinals=r"(?:º|°|(?P<feminine>ª))",
        century=r"{numeral}(?= secol[oi]\b)|\b[Ss]ecol[oi] {numeral}\b",
        century_ordinal=True,
        rulers=(
            "Papa Giovanni|Giovanni|Giovanni Paolo|Vittorio Emanuele|Umberto|Pio|Leone|Benedetto|Enrico|Carlo|"
            "Luigi|Federico"
        ),
        rulers_ordinal=True,
        feminine=("o", "a"),
    ),
    "pt": Locale(
        numbers="pt_BR",
        point="vírgula",
        months=(
            "janeiro",
            "fevereiro",
            "março",
            "abril",
            "maio",
            "junho",
            "julho",
            "agosto",
            "setembro",
            "outubro",
            "novembro",
            "dezembro",
        ),
        date="{day} de {month} de {year}",
        first_day="primeiro",
        hour=("hora", "horas"),
        hours_first=True,
        time_joint="e",
        percent="por cento",
        per="por",
        to="a",
        joint="e",
        signs={"@": "arroba", ".": "ponto", "/": "barra", "-": "hífen", "_": "sublinhado", "+": "mais", "−": "menos"}
        | {"×": "vezes", "÷": "dividido por", "=": "igual a", "&": "e", "<": "menor que", ">": "maior que"},
        currencies=_forms(
            "R$=real/reais;€=euro/euros;$=dólar/dólares;"
            "US$=dólar/dólares;£=libra/libras;BRL=real/reais;CHF=franco suíço/francos suíços"
        ),
        hundredths=("centavo", "centavos"),
        units=_forms(_UNITS_PT),
        abbreviations=pairs(
            "Eng.=engenheiro;eng.=engenheiro;Adv.=advogado;séc.=século;Pça.=praça;Rod.=rodovia;Sto.=Santo;Sta.=Santa;"
            "Sr.=senhor;Sra.=senhora;Srta.=senhorita;Dr.=doutor;Dra.=doutora;Prof.=professor;Profa.=professora;D.=dom;"
            "p. ex.=por "
            "exemplo;etc.=etcétera;pág.=página;págs.=páginas;n.º=número;nº=número;av.=avenida;Av.=avenida;R.=rua;"
            "a.C.=antes de Cristo;d.C.=depois de "
            "Cristo;tel.=telefone;Tel.=telefone;vol.=volume;cap.=capítulo;art.=artigo;"
            "Exmo.=excelentíssimo;apto.=apartamento;km.=quilômetro"
        ),
        one={},
        ordinals=r"(?:\.?º|(?P<feminine>\.?ª)|o(?=\b))",
        century=r"\b(?:[Ss]éculos?|[Ss]éc\.) {numeral}\b",
        century_ordinal=False,
        rulers=(
            "D\\. Pedro|Pedro|João|João Paulo|D\\. João|Manuel|Afonso|Henrique|Luís|Bento|Pio|Carlos|Isabel|Elizabeth"
        ),
        rulers_ordinal=True,
        feminine=("o", "a"),
    ),
}
"""Locales by the language code's first part."""
